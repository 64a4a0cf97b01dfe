import java.io.File;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Starts one exactly-once application for each user, each with an application id of the user's name; says who failed. */
public class StreamsRights {
    public static void main(String[] args) throws Exception {
        for (int index = 2; index < args.length; index++) {
            start(args[0], args[1], args[index]);
        }
        Thread.currentThread().join();
    }

    private static void start(String bootstrap, String folder, String user) {
        Properties config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, user);
        config.put(StreamsConfig.STATE_DIR_CONFIG, new File(folder, user).getAbsolutePath());
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        config.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, 200);
        config.put("security.protocol", "SASL_PLAINTEXT");
        config.put("sasl.mechanism", "PLAIN");
        config.put("sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required username=\""
            + user + "\" password=\"word\";");

        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
            .groupBy((key, value) -> user, Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.with(Serdes.String(), Serdes.Long()))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to("out", Produced.with(Serdes.String(), Serdes.String()));

        KafkaStreams streams = new KafkaStreams(builder.build(), config);
        streams.setUncaughtExceptionHandler(error -> {
            StringBuilder chain = new StringBuilder();
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                chain.append(' ').append(cause.getClass().getSimpleName());
            }
            System.out.println("failed " + user + chain);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
    }
}
