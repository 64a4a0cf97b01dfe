import java.lang.reflect.Method;
import java.util.Properties;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Writes numbers exactly once, and prints a line for each complete checkpoint, until it is killed.
 *
 * <p>Arguments: bootstrap servers, topic, parallelism, checkpoint interval in ms, and with connector 4 a naming strategy.
 */
public class FlinkSink {
    /** Slows the source down, and reports checkpoints. */
    public static class Paced extends RichMapFunction<Long, String> implements CheckpointListener {
        @Override
        public String map(Long number) throws Exception {
            Thread.sleep(1);
            return Long.toString(number);
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) {
            if (getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0) {
                System.out.println("checkpoint " + checkpoint);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int parallelism = Integer.parseInt(args[2]);
        StreamExecutionEnvironment environment =
            StreamExecutionEnvironment.createLocalEnvironment(parallelism, new Configuration());
        environment.enableCheckpointing(Long.parseLong(args[3]));
        Properties settings = new Properties();
        settings.put("transaction.timeout.ms", "60000");
        KafkaSinkBuilder<String> sink = KafkaSink.<String>builder()
            .setBootstrapServers(args[0])
            .setKafkaProducerConfig(settings)
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix("flink-sink")
            .setRecordSerializer(KafkaRecordSerializationSchema.<String>builder()
                .setTopic(args[1]).setKeySerializationSchema(new SimpleStringSchema())
                .setValueSerializationSchema(new SimpleStringSchema()).build());
        if (args.length > 4) {
            // By name, as connector 3 lacks the strategies.
            Class<?> strategies = Class.forName("org.apache.flink.connector.kafka.sink.TransactionNamingStrategy");
            Method choose = sink.getClass().getMethod("setTransactionNamingStrategy", strategies);
            choose.invoke(sink, strategies.getField(args[4]).get(null));
        }
        environment.fromSource(new NumberSequenceSource(0, Long.MAX_VALUE - 1), WatermarkStrategy.noWatermarks(), "numbers")
            .map(new Paced()).sinkTo(sink.build());
        environment.execute("sink");
    }
}
