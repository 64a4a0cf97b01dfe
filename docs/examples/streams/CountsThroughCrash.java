import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Counts the records of each key, and prints what a restart restores: a measure of transactional state stores (KIP-892).
 *
 * <pre>
 * java -cp 'libs/*' CountsThroughCrash.java fill 127.0.0.1:9092 40000
 * java -cp 'libs/*' CountsThroughCrash.java run counts.properties
 * </pre>
 *
 * <p>The settings decide everything else: processing.guarantee, enable.transactional.statestores, state.dir.
 */
public final class CountsThroughCrash {
    private static final String INPUT = "events";
    private static final String OUTPUT = "counts";
    private static final int PARTITIONS = 2;

    private CountsThroughCrash() {
    }

    /** Prints each store that was brought up to its changelog, with the number of records and the time. */
    private static final class Restorations implements StateRestoreListener {
        private final long begun = System.nanoTime();

        @Override
        public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
            System.out.printf("restoring %s of %s from offset %d to %d%n", store, partition, from, to);
        }

        @Override
        public void onBatchRestored(TopicPartition partition, String store, long offset, long count) {
        }

        @Override
        public void onRestoreEnd(TopicPartition partition, String store, long count) {
            System.out.printf("restored %s of %s: %d records, %d ms after the start%n",
                store, partition, count, millisSince(begun));
        }
    }

    private static long millisSince(long nanoTime) {
        return (System.nanoTime() - nanoTime) / 1_000_000;
    }

    /** The store keeps the number of events of a key and the last of them, so that it has the size of the events. */
    private static String next(String key, String event, String kept) {
        return Long.parseLong(kept.substring(0, kept.indexOf(' '))) + 1 + " " + event;
    }

    private static Topology topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(INPUT, Consumed.with(Serdes.String(), Serdes.String()))
            .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(() -> "0 ", CountsThroughCrash::next, Materialized.with(Serdes.String(), Serdes.String()))
            .toStream()
            .mapValues(kept -> kept.substring(0, kept.indexOf(' ')))
            .to(OUTPUT, Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }

    /** Writes so many records, one for each key; creates the topics where they are missing. */
    private static void fill(String bootstrap, int count) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        try (Admin admin = Admin.create(settings)) {
            for (String topic : List.of(INPUT, OUTPUT)) {
                if (!admin.listTopics().names().get().contains(topic)) {
                    admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
                }
            }
        }
        settings.put("linger.ms", "20");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < count; number++) {
                producer.send(new ProducerRecord<>(INPUT, "key-" + number, "x".repeat(1000)));
            }
        }
    }

    private static void run(Path file) throws IOException, InterruptedException {
        Properties settings = new Properties();
        try (var input = Files.newInputStream(file)) {
            settings.load(input);
        }
        CountDownLatch ended = new CountDownLatch(1);
        KafkaStreams streams = new KafkaStreams(topology(), settings);
        long begun = System.nanoTime();
        streams.setGlobalStateRestoreListener(new Restorations());
        streams.setStateListener((now, before) -> System.out.printf("%s %d ms after the start%n", now, millisSince(begun)));
        streams.setUncaughtExceptionHandler(error -> {
            System.err.println("ending: " + error);
            ended.countDown();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(30))));
        streams.start();
        ended.await();
        System.exit(1);
    }

    /** Arguments: fill BOOTSTRAP COUNT, or run SETTINGS. */
    public static void main(String[] args) throws Exception {
        if (args[0].equals("fill")) {
            fill(args[1], Integer.parseInt(args[2]));
        } else {
            run(Path.of(args[1]));
        }
    }
}
