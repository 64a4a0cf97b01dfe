import java.io.File;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Applications that are measured while something is wrong: Streams with exactly_once_v2 that counts orders by customer
 * and dies of an order that says "poison", and a transactional producer whose orders say what its fourth argument says.
 */
public class Orders {
    public static void main(String[] args) throws InterruptedException {
        if (args[0].equals("streams")) {
            count(args[1], args[2]);
        } else {
            produce(args[1], "x".repeat(Integer.parseInt(args[2])));
        }
    }

    private static void count(String bootstrap, String folder) throws InterruptedException {
        Properties config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "orders-app");
        config.put(StreamsConfig.STATE_DIR_CONFIG, new File(folder).getAbsolutePath());
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        config.put(StreamsConfig.METRICS_RECORDING_LEVEL_CONFIG, "DEBUG");
        config.put("consumer.auto.offset.reset", "earliest");
        // A busy machine must not look like a fault of the application.
        config.put("consumer.session.timeout.ms", 300000);
        config.put("consumer.max.poll.interval.ms", 900000);
        config.put("producer.transaction.timeout.ms", 600000);
        config.put("request.timeout.ms", 120000);
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("orders", Consumed.with(Serdes.String(), Serdes.String()))
            .peek((customer, order) -> {
                if ("poison".equals(order)) {
                    throw new IllegalArgumentException("an order that cannot be read");
                }
            })
            .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
            .count()
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to("counts", Produced.with(Serdes.String(), Serdes.String()));
        KafkaStreams streams = new KafkaStreams(builder.build(), config);
        streams.setUncaughtExceptionHandler(error -> StreamThreadExceptionResponse.REPLACE_THREAD);
        streams.start();
        Thread.currentThread().join();
    }

    private static void produce(String bootstrap, String order) throws InterruptedException {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("transactional.id", "orders-producer");
        config.put("key.serializer", StringSerializer.class.getName());
        config.put("value.serializer", StringSerializer.class.getName());
        KafkaProducer<String, String> producer = new KafkaProducer<>(config);
        producer.initTransactions();
        for (int number = 0; ; number++) {
            producer.beginTransaction();
            try {
                producer.send(new ProducerRecord<>("orders", "customer", number % 5 == 0 ? order : "small"));
                producer.commitTransaction();
            } catch (KafkaException refused) {
                producer.abortTransaction();
            }
            Thread.sleep(500);
        }
    }
}
