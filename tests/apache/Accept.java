import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;

/** Says for each line "name TAB role TAB key=value|key=value" whether a real client of the role would start with it. */
public final class Accept {
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

    private static void start(String role, Properties properties) {
        if (role.equals("producer")) {
            new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer()).close(Duration.ZERO);
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
