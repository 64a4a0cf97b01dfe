import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;

/**
 * Copies a topic to another with Flink SQL, in a cluster inside this process.
 *
 * Arguments: FOLDER_OF_CONFIG_YAML CHECKPOINTS BOOTSTRAP IN OUT. Options of the sink and of its client are those of the
 * table that is written to, all others those of the job. Continues from the newest checkpoint, and prints
 * {@code running} when the job runs.
 */
public class FlinkCopy {
    public static void main(String[] args) throws Exception {
        Map<String, String> options = new TreeMap<>(GlobalConfiguration.loadConfiguration(args[0]).toMap());
        Map<String, String> sink = new TreeMap<>();
        options.entrySet().removeIf(option -> {
            boolean ofTable = option.getKey().matches("(sink|properties)\\..*");
            if (ofTable) {
                sink.put(option.getKey(), option.getValue());
            }
            return ofTable;
        });
        Path checkpoints = Path.of(args[1]);
        options.put("execution.checkpointing.dir", checkpoints.toUri().toString());
        options.put("parallelism.default", "1");
        newest(checkpoints).ifPresent(path -> options.put("execution.state-recovery.path", path.toUri().toString()));
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.newInstance()
            .inStreamingMode().withConfiguration(Configuration.fromMap(options)).build());
        tables.executeSql(table("source_table", args[2], args[3], Map.of(
            "properties.group.id", "flink-copy",
            "properties.isolation.level", "read_committed",
            "scan.startup.mode", "earliest-offset")));
        tables.executeSql(table("sink_table", args[2], args[4], sink));
        TableResult result = tables.executeSql("INSERT INTO sink_table SELECT content FROM source_table");
        while (result.getJobClient().orElseThrow().getJobStatus().get() != JobStatus.RUNNING) {
            Thread.sleep(50);
        }
        System.out.println("running");
        result.await();
    }

    private static String table(String name, String bootstrap, String topic, Map<String, String> options) {
        Map<String, String> all = new TreeMap<>(options);
        all.putAll(Map.of("connector", "kafka", "format", "raw", "topic", topic, "properties.bootstrap.servers", bootstrap));
        String with = all.entrySet().stream()
            .map(option -> "'" + option.getKey() + "' = '" + option.getValue() + "'")
            .collect(Collectors.joining(", "));
        return "CREATE TABLE " + name + " (content STRING) WITH (" + with + ")";
    }

    /** Returns the newest complete checkpoint of any run of the job. */
    private static Optional<Path> newest(Path checkpoints) throws IOException {
        if (!Files.isDirectory(checkpoints)) {
            return Optional.empty();
        }
        try (Stream<Path> found = Files.walk(checkpoints)) {
            return found.filter(path -> path.endsWith("_metadata")).map(Path::getParent)
                .max(Comparator.comparing(path -> path.toFile().lastModified()));
        }
    }
}
