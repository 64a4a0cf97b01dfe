import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/**
 * Prints the beans of a running broker and of clients that use transactions: component, bean, attribute, description, with
 * tabs between. Arguments: the broker's address, and the port of its JMX.
 */
public final class Beans {
    private static final String TEXT = "org.apache.kafka.common.serialization.StringSerializer";
    private static final String READ = "org.apache.kafka.common.serialization.StringDeserializer";
    private static final TreeSet<String> LINES = new TreeSet<>();

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0];
        Map<String, Object> shared = new HashMap<>();
        shared.put("bootstrap.servers", bootstrap);
        shared.put("metrics.recording.level", "TRACE");
        Map<String, Object> plain = Map.of("bootstrap.servers", bootstrap);
        try (Admin admin = Admin.create(plain)) {
            List<NewTopic> topics = new ArrayList<>();
            for (String name : List.of("input", "output")) {
                topics.add(new NewTopic(name, 1, (short) 1));
            }
            topics.add(new NewTopic("compacted", 1, (short) 1).configs(Map.of("cleanup.policy", "compact")));
            admin.createTopics(topics).all().get(60, TimeUnit.SECONDS);
            useTransactions(bootstrap);
            admin.describeCluster().nodes().get(60, TimeUnit.SECONDS);
            own("admin", "kafka.admin.client");
            runStreams(bootstrap);
            JMXServiceURL url =
                new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + arguments[1] + "/jmxrmi");
            try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
                dump("broker", connector.getMBeanServerConnection(), "kafka.*:*");
            }
        }
        LINES.forEach(System.out::println);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void useTransactions(String bootstrap) throws Exception {
        Map<String, Object> consuming = new HashMap<>();
        consuming.put("bootstrap.servers", bootstrap);
        consuming.put("group.id", "beans");
        consuming.put("auto.offset.reset", "earliest");
        consuming.put("isolation.level", "read_committed");
        consuming.put("enable.auto.commit", false);
        consuming.put("key.deserializer", READ);
        consuming.put("value.deserializer", READ);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(producing(bootstrap));
                KafkaConsumer<String, String> consumer = new KafkaConsumer<>(consuming)) {
            producer.initTransactions();
            producer.beginTransaction();
            for (String topic : List.of("input", "compacted")) {
                producer.send(new ProducerRecord<>(topic, "key", "value")).get(60, TimeUnit.SECONDS);
            }
            producer.commitTransaction();
            consumer.subscribe(List.of("input"));
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
            while (records.isEmpty() && System.nanoTime() < until) {
                records = consumer.poll(Duration.ofMillis(200));
            }
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("output", "key", "value"));
            Map<TopicPartition, OffsetAndMetadata> offsets =
                Map.of(new TopicPartition("input", 0), new OffsetAndMetadata(1));
            producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
            producer.commitTransaction();
            consumer.commitSync(offsets);
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("output", "key", "value")).get(60, TimeUnit.SECONDS);
            producer.abortTransaction();
            own("producer", "kafka.producer");
            own("consumer", "kafka.consumer");
            try (KafkaProducer<String, String> second = new KafkaProducer<>(producing(bootstrap))) {
                second.initTransactions();
            }
        }
    }

    private static Map<String, Object> producing(String bootstrap) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", "beans");
        settings.put("key.serializer", TEXT);
        settings.put("value.serializer", TEXT);
        return settings;
    }

    private static void runStreams(String bootstrap) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("application.id", "beans-streams");
        settings.put("processing.guarantee", "exactly_once_v2");
        settings.put("metrics.recording.level", "TRACE");
        settings.put("default.key.serde", Serdes.String().getClass());
        settings.put("default.value.serde", Serdes.String().getClass());
        settings.put("state.dir", Files.createTempDirectory("beans").toString());
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream("input").groupByKey().count().toStream().mapValues(Object::toString).to("output");
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.start();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (streams.state() != KafkaStreams.State.RUNNING && System.nanoTime() < until) {
            Thread.sleep(200);
        }
        Thread.sleep(3000); // One commit of the counts.
        own("streams", "kafka.streams");
    }

    private static void own(String component, String domain) throws Exception {
        dump(component, ManagementFactory.getPlatformMBeanServer(), domain + ":*");
    }

    private static void dump(String component, MBeanServerConnection server, String pattern) throws Exception {
        for (ObjectName bean : server.queryNames(new ObjectName(pattern), null)) {
            Map<String, String> keys = new TreeMap<>(bean.getKeyPropertyList());
            StringBuilder name = new StringBuilder(bean.getDomain()).append(':');
            keys.forEach((key, value) -> name.append(key).append('=').append(value).append(','));
            name.setLength(name.length() - 1);
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(bean).getAttributes()) {
                String description = attribute.getDescription();
                boolean isOwn = !attribute.getName().equals(description) && !description.startsWith("Attribute exposed");
                String text = isOwn ? description.replaceAll("\\s+", " ").strip() : "";
                LINES.add(String.join("\t", component, name, attribute.getName(), text));
            }
        }
    }
}
