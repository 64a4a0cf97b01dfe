import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.clients.admin.ListOffsetsOptions;

/** Does with a cluster what exactly-once applications do and prints every outcome; equal clusters print equal lines. */
public final class EosScenario {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private final String bootstrap;
    private final String name;
    private final String groupProtocol;

    private EosScenario(String bootstrap, String name, String groupProtocol) {
        this.bootstrap = bootstrap;
        this.name = name;
        this.groupProtocol = groupProtocol;
    }

    /** Arguments: bootstrap servers, a prefix for topics and ids, the group protocol (classic or consumer). */
    public static void main(String[] args) throws Exception {
        EosScenario scenario = new EosScenario(args[0], args[1], args[2]);
        scenario.commitsAndAborts();
        scenario.everyCodec();
        scenario.consumeTransformProduce();
        scenario.fencing();
        scenario.offsetsByIsolation();
    }

    private void commitsAndAborts() throws Exception {
        String topic = createTopic("commits", 2);
        try (KafkaProducer<String, String> producer = producer("commits", "none")) {
            for (int round = 0; round < 4; round++) {
                producer.beginTransaction();
                for (int partition = 0; partition < 2; partition++) {
                    print("sent", send(producer, topic, partition, "round-" + round));
                }
                if (round % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
            producer.beginTransaction();
            producer.commitTransaction();
            print("empty transaction", "committed");
        }
        print("committed", read(topic, 2, "read_committed", 4));
        print("everything", read(topic, 2, "read_uncommitted", 8));
    }

    private void everyCodec() throws Exception {
        String topic = createTopic("codecs", 1);
        String payload = "compress me ".repeat(300);
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            try (KafkaProducer<String, String> producer = producer("codecs-" + codec, codec)) {
                producer.beginTransaction();
                send(producer, topic, 0, codec + payload);
                producer.commitTransaction();
            }
        }
        for (String value : read(topic, 1, "read_committed", 5)) {
            print("codec", value.substring(0, 12) + value.length());
        }
    }

    private void consumeTransformProduce() throws Exception {
        String source = createTopic("source", 1);
        String target = createTopic("target", 1);
        try (KafkaProducer<String, String> producer = producer("feed", "none")) {
            producer.beginTransaction();
            for (int n = 0; n < 6; n++) {
                send(producer, source, 0, "order-" + n);
            }
            producer.commitTransaction();
        }
        TopicPartition input = new TopicPartition(source, 0);
        try (KafkaConsumer<String, String> consumer = consumer("read_committed", name + "-ctp");
                KafkaProducer<String, String> producer = producer("ctp", "none")) {
            consumer.subscribe(List.of(source));
            List<ConsumerRecord<String, String>> orders = poll(consumer, 6);
            for (boolean commit : new boolean[] {false, true}) {
                producer.beginTransaction();
                for (ConsumerRecord<String, String> order : orders) {
                    send(producer, target, 0, order.value() + (commit ? " paid" : " lost"));
                }
                producer.sendOffsetsToTransaction(
                        Map.of(input, new OffsetAndMetadata(6, "note")), consumer.groupMetadata());
                if (commit) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
                print("committed offset", consumer.committed(java.util.Set.of(input)).get(input));
            }
            print("members", consumer.groupMetadata().generationId() > 0 ? "joined" : "alone");
        }
        print("target", read(target, 1, "read_committed", 6));
    }

    private void fencing() throws Exception {
        String topic = createTopic("fencing", 1);
        KafkaProducer<String, String> zombie = producer("fenced", "none");
        zombie.beginTransaction();
        send(zombie, topic, 0, "zombie");
        try (KafkaProducer<String, String> successor = producer("fenced", "none")) {
            successor.beginTransaction();
            send(successor, topic, 0, "successor");
            successor.commitTransaction();
            try {
                zombie.commitTransaction();
                print("zombie", "committed");
            } catch (KafkaException fenced) {
                print("zombie", fenced.getClass().getSimpleName());
            }
        }
        try {
            zombie.close(Duration.ZERO);
        } catch (KafkaException ignored) {
            print("zombie", "closed late");
        }
        print("fencing", read(topic, 1, "read_committed", 1));
    }

    private void offsetsByIsolation() throws Exception {
        String topic = createTopic("isolation", 1);
        TopicPartition place = new TopicPartition(topic, 0);
        try (Admin admin = admin(); KafkaProducer<String, String> open = producer("open", "none")) {
            open.beginTransaction();
            send(open, topic, 0, "held back");
            for (IsolationLevel level : IsolationLevel.values()) {
                print(level.toString(), admin.listOffsets(Map.of(place, OffsetSpec.latest()), new ListOffsetsOptions(level))
                        .partitionResult(place).get().offset());
            }
            print("state", admin.describeTransactions(List.of(name + "-open")).description(name + "-open").get().state());
            open.abortTransaction();
        }
    }

    private String createTopic(String suffix, int partitions) throws Exception {
        String topic = name + "-" + suffix;
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
        }
        return topic;
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    private KafkaProducer<String, String> producer(String id, String codec) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", name + "-" + id);
        settings.put("compression.type", codec);
        settings.put("linger.ms", 0);
        KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    private KafkaConsumer<String, String> consumer(String isolation, String group) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.id", group);
        settings.put("group.protocol", groupProtocol);
        settings.put("isolation.level", isolation);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private static String send(KafkaProducer<String, String> producer, String topic, int partition, String value)
            throws InterruptedException, ExecutionException {
        RecordMetadata sent = producer.send(new ProducerRecord<>(topic, partition, null, value)).get();
        return sent.partition() + "@" + sent.offset();
    }

    private List<String> read(String topic, int partitions, String isolation, int count) {
        try (KafkaConsumer<String, String> consumer = consumer(isolation, name + "-" + isolation + topic)) {
            List<TopicPartition> places = new ArrayList<>();
            for (int partition = 0; partition < partitions; partition++) {
                places.add(new TopicPartition(topic, partition));
            }
            consumer.assign(places);
            List<String> found = new ArrayList<>();
            for (ConsumerRecord<String, String> record : poll(consumer, count)) {
                found.add(partitions > 1 ? record.partition() + "@" + record.offset() + " " + record.value() : record.value());
            }
            if (partitions > 1) {
                found.sort(null);
            }
            return found;
        }
    }

    private static List<ConsumerRecord<String, String>> poll(KafkaConsumer<String, String> consumer, int count) {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (found.size() < count && System.nanoTime() < deadline) {
            consumer.poll(Duration.ofMillis(100)).forEach(found::add);
        }
        return found;
    }

    private static void print(String what, Object outcome) {
        System.out.println(what + ": " + outcome);
    }
}
