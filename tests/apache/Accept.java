import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.streams.StreamsConfig;

/** Says for each line "name TAB role TAB key=value|key=value" whether a real client of the role would start with it. */
public final class Accept {
    private static final String SHARE_CONSUMER = "org.apache.kafka.clients.consumer.KafkaShareConsumer"; // since 4.0

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] parts = line.split("\t", 3);
            Properties properties = new Properties();
            properties.load(new StringReader(parts[2].replace("|", "\n")));
            properties.putIfAbsent("bootstrap.servers", "127.0.0.1:1");
            System.out.println(parts[0] + "\t" + verdict(parts[1], properties));
        }
        System.exit(0);
    }

    private static boolean canShare() {
        try {
            Class.forName(SHARE_CONSUMER);
            return true;
        } catch (ClassNotFoundException older) {
            return false;
        }
    }

    private static String verdict(String role, Properties properties) {
        try {
            start(role, properties);
            return "accepted";
        } catch (Throwable refusal) {
            Throwable cause = refusal;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return "refused: " + String.valueOf(cause).replace('\n', ' ');
        }
    }

    private static void start(String role, Properties properties) throws Exception {
        if (role.equals("producer")) {
            new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer()).close(Duration.ZERO);
        } else if (role.equals("consumer") && properties.containsKey("share.acknowledgement.mode") && canShare()) {
            Class.forName(SHARE_CONSUMER)
                .getConstructor(Properties.class, Deserializer.class, Deserializer.class)
                .newInstance(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        } else if (role.equals("consumer")) {
            new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .close(Duration.ZERO);
        } else {
            StreamsConfig streams = new StreamsConfig(properties);
            streams.getMainConsumerConfigs("group", "client", 0);
            Properties inner = new Properties();
            streams.getProducerConfigs("client").forEach((key, value) -> {
                if (value != null) {
                    inner.put(key, value);
                }
            });
            new KafkaProducer<>(inner, new ByteArraySerializer(), new ByteArraySerializer()).close(Duration.ZERO);
        }
    }
}
