import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Two share consumers of one group: every kind of acknowledgement, a record that is delivered again, and a leave. */
public class ShareScenario {
    private static final String WARM_UP = "warm-up";

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0], topic = args[1], group = args[1] + "-group";
        Properties base = new Properties();
        base.put("bootstrap.servers", bootstrap);
        try (Admin admin = Admin.create(base)) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        }
        try (KafkaProducer<String, String> producer = producer(base);
                KafkaShareConsumer<String, String> first = consumer(base, group)) {
            first.subscribe(List.of(topic));
            warmUp(producer, first, topic);
            for (int i = 1; i <= 5; i++) {
                producer.send(new ProducerRecord<>(topic, "order-" + i)).get();
            }
            List<ConsumerRecord<String, String>> seen = new ArrayList<>();
            while (seen.size() < 5) {
                for (ConsumerRecord<String, String> record : poll(first)) {
                    seen.add(record);
                    first.acknowledge(record, kindOf(record.value()));
                }
                first.commitSync();
            }
            print("first", seen);
            seen.clear();
            while (seen.isEmpty()) {
                seen.addAll(poll(first));
            }
            print("again", seen);
        }
        try (KafkaShareConsumer<String, String> second = consumer(base, group)) {
            second.subscribe(List.of(topic));
            List<ConsumerRecord<String, String>> seen = new ArrayList<>();
            while (seen.isEmpty()) {
                seen.addAll(poll(second));
            }
            print("second", seen);
            for (ConsumerRecord<String, String> record : seen) {
                second.acknowledge(record);
            }
            System.out.println("committed " + second.commitSync().values());
        }
        try (Admin admin = Admin.create(base)) {
            System.out.println("state " + admin.describeShareGroups(List.of(group)).all().get().get(group).groupState());
        }
    }

    /** A group without a start offset begins at the end of the topic, once its first member fetches. */
    private static void warmUp(
            KafkaProducer<String, String> producer, KafkaShareConsumer<String, String> consumer, String topic)
            throws Exception {
        while (true) {
            producer.send(new ProducerRecord<>(topic, WARM_UP)).get();
            boolean arrived = false;
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                consumer.acknowledge(record);
                arrived = true;
            }
            if (arrived) {
                consumer.commitSync();
                return;
            }
        }
    }

    private static List<ConsumerRecord<String, String>> poll(KafkaShareConsumer<String, String> consumer) {
        List<ConsumerRecord<String, String>> orders = new ArrayList<>();
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
            if (record.value().equals(WARM_UP)) {
                consumer.acknowledge(record);
            } else {
                orders.add(record);
            }
        }
        return orders;
    }

    private static AcknowledgeType kindOf(String value) {
        return switch (value) {
            case "order-3" -> AcknowledgeType.RELEASE;
            case "order-4" -> AcknowledgeType.REJECT;
            default -> AcknowledgeType.ACCEPT;
        };
    }

    private static void print(String label, List<ConsumerRecord<String, String>> records) {
        TreeSet<String> lines = new TreeSet<>();
        for (ConsumerRecord<String, String> record : records) {
            lines.add(record.value() + " delivery " + record.deliveryCount().orElse((short) -1));
        }
        System.out.println(label + " " + records.size() + " " + lines);
    }

    private static KafkaProducer<String, String> producer(Properties base) {
        return new KafkaProducer<>(base, new StringSerializer(), new StringSerializer());
    }

    private static KafkaShareConsumer<String, String> consumer(Properties base, String group) {
        Properties own = new Properties();
        own.putAll(base);
        own.put("group.id", group);
        own.put("share.acknowledgement.mode", "explicit");
        return new KafkaShareConsumer<>(own, new StringDeserializer(), new StringDeserializer());
    }
}
