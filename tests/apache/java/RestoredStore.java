import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Restores a table from its changelog, reads all of it, and prints how long that took and what RocksDB holds. */
public class RestoredStore {
    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "restoring");
        config.put(StreamsConfig.STATE_DIR_CONFIG, args[1]);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        config.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.NO_OPTIMIZATION);
        config.put("consumer.auto.offset.reset", "earliest");

        StreamsBuilder builder = new StreamsBuilder();
        builder.table("input", Consumed.with(Serdes.Bytes(), Serdes.ByteArray()),
            Materialized.<Bytes, byte[], KeyValueStore<Bytes, byte[]>>as("store"));
        KafkaStreams streams = new KafkaStreams(builder.build(), config);
        CountDownLatch ready = new CountDownLatch(1);
        long[] began = {0};
        long[] ended = {0};
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long[] usedBefore = {0};
        long[] usedAfter = {0};
        streams.setGlobalStateRestoreListener(new StateRestoreListener() {
            @Override
            public synchronized void onRestoreStart(TopicPartition partition, String store, long from, long to) {
                if (began[0] == 0) {
                    began[0] = System.nanoTime();
                    usedBefore[0] = system.getProcessCpuTime();
                }
            }

            @Override
            public void onBatchRestored(TopicPartition partition, String store, long offset, long count) {
            }

            @Override
            public synchronized void onRestoreEnd(TopicPartition partition, String store, long count) {
                ended[0] = System.nanoTime();
                usedAfter[0] = system.getProcessCpuTime();
                System.out.println("restored " + count);
            }
        });
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                ready.countDown();
            }
        });
        streams.start();
        ready.await();
        System.out.println("restore_ms " + (ended[0] - began[0]) / 1_000_000);
        System.out.println("restore_cpu_ms " + (usedAfter[0] - usedBefore[0]) / 1_000_000);
        print(streams);
        ReadOnlyKeyValueStore<Bytes, byte[]> store =
            streams.store(StoreQueryParameters.fromNameAndType("store", QueryableStoreTypes.keyValueStore()));
        long read = 0;
        try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
            while (all.hasNext()) {
                all.next();
                read++;
            }
        }
        System.out.println("read " + read);
        print(streams);
        streams.close(Duration.ofSeconds(60));
    }

    private static void print(KafkaStreams streams) {
        for (String name : new String[] {"block-cache-usage", "size-all-mem-tables", "estimate-table-readers-mem"}) {
            double sum = 0;
            for (Metric metric : streams.metrics().values()) {
                if (metric.metricName().name().equals(name) && metric.metricName().group().equals("stream-state-metrics")) {
                    sum += ((Number) metric.metricValue()).doubleValue();
                }
            }
            System.out.println(name + " " + (long) sum);
        }
    }
}
