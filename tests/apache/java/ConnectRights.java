import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.connect.cli.ConnectDistributed;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Starts one Connect worker with an exactly-once source for each user, named after the user. */
public class ConnectRights {
    private static final String CONNECTOR = "source";

    /** Counts; its offset is the number. */
    public static class Numbers extends SourceConnector {
        private Map<String, String> config;

        @Override
        public void start(Map<String, String> config) {
            this.config = config;
        }

        @Override
        public void stop() {
        }

        @Override
        public Class<? extends Task> taskClass() {
            return NumbersTask.class;
        }

        @Override
        public List<Map<String, String>> taskConfigs(int maxTasks) {
            return List.of(config);
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> config) {
            return ExactlyOnceSupport.SUPPORTED;
        }

        @Override
        public String version() {
            return "1";
        }
    }

    /** Writes the next number a few times a second. */
    public static class NumbersTask extends SourceTask {
        private String user;
        private long next;

        @Override
        public void start(Map<String, String> config) {
            user = config.get("user");
            Map<String, Object> committed = context.offsetStorageReader().offset(Map.of("user", user));
            next = committed == null ? 0 : (Long) committed.get("next");
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            Thread.sleep(100);
            next++;
            return List.of(new SourceRecord(Map.of("user", user), Map.of("next", next), "out", 0,
                Schema.STRING_SCHEMA, user, Schema.STRING_SCHEMA, Long.toString(next)));
        }

        @Override
        public void stop() {
        }

        @Override
        public String version() {
            return "1";
        }
    }

    public static void main(String[] args) throws Exception {
        // A worker that gives up would end the others' process.
        Exit.setExitProcedure((status, message) -> {
            throw new IllegalStateException("this worker has ended");
        });
        for (int index = 1; index < args.length; index++) {
            start(args[0], args[index]);
        }
        Thread.currentThread().join();
    }

    private static void start(String bootstrap, String user) {
        Map<String, String> worker = new HashMap<>();
        worker.put("bootstrap.servers", bootstrap);
        worker.put("client.id", user);
        worker.put("group.id", user);
        worker.put("exactly.once.source.support", "enabled");
        for (String topic : List.of("config", "offset", "status")) {
            worker.put(topic + ".storage.topic", user + "-" + topic);
            worker.put(topic + ".storage.replication.factor", "1");
        }
        worker.put("offset.storage.partitions", "1");
        worker.put("status.storage.partitions", "1");
        worker.put("key.converter", "org.apache.kafka.connect.storage.StringConverter");
        worker.put("value.converter", "org.apache.kafka.connect.storage.StringConverter");
        worker.put("listeners", "http://127.0.0.1:0");
        worker.put("plugin.discovery", "only_scan");
        for (String prefix : List.of("", "producer.", "consumer.", "admin.")) {
            worker.put(prefix + "security.protocol", "SASL_PLAINTEXT");
            worker.put(prefix + "sasl.mechanism", "PLAIN");
            worker.put(prefix + "sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required"
                + " username=\"" + user + "\" password=\"word\";");
        }
        Map<String, String> connector = Map.of("name", CONNECTOR, "connector.class", Numbers.class.getName(),
            "tasks.max", "1", "exactly.once.support", "required", "user", user);
        new ConnectDistributed().startConnect(worker).herder()
            .putConnectorConfig(CONNECTOR, connector, true, (error, created) -> { });
    }
}
