import java.io.File;
import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateRestoreListener;

/** Counts words exactly once: every record of the output is the next count of its word. */
public class WordCount {
    public static void main(String[] args) throws InterruptedException {
        String bootstrap = args[0];
        Properties config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "word-count");
        config.put(StreamsConfig.STATE_DIR_CONFIG, new File(args[1]).getAbsolutePath());
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        // Without a cache every count goes downstream, as the tests of counts want it.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, Integer.getInteger("cache.bytes", 0));
        if (Boolean.getBoolean("transactional.stores")) {
            config.put("enable.transactional.statestores", true); // by name, as releases before 4.4 lack the constant
        }
        config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        String protocol = System.getProperty("group.protocol", "classic");
        if (protocol.equals("classic")) {
            config.put("consumer.session.timeout.ms", 6000);
        } else {
            config.put("group.protocol", protocol); // by name, as releases before 4.1 lack the constant
        }
        config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, Integer.getInteger("threads", 1));
        config.put("consumer.auto.offset.reset", "earliest");
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, Long.getLong("commit.interval.ms", 100));

        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(System.getProperty("source", "lines"), Consumed.with(Serdes.String(), Serdes.String()))
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, org.apache.kafka.streams.kstream.Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.with(Serdes.String(), Serdes.Long()))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to("counts", Produced.with(Serdes.String(), Serdes.String()));

        CountDownLatch ended = new CountDownLatch(1);
        KafkaStreams streams = new KafkaStreams(builder.build(), config);
        streams.setGlobalStateRestoreListener(new StateRestoreListener() {
            @Override
            public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
            }

            @Override
            public void onBatchRestored(TopicPartition partition, String store, long offset, long count) {
            }

            @Override
            public void onRestoreEnd(TopicPartition partition, String store, long count) {
                System.out.println("restored " + count);
            }
        });
        streams.setStateListener((now, before) -> System.out.println("state " + now));
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            ended.countDown();
            return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close(Duration.ofSeconds(30));
            ended.countDown();
        }));
        streams.start();
        ended.await();
    }
}
