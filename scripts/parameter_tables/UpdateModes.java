import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;

/** Prints which broker settings of one Kafka release change without a restart: name, then per-broker or cluster-wide. */
public final class UpdateModes {
    private static final String[] PLACES = {
        "org.apache.kafka.server.config.DynamicBrokerConfig", "kafka.server.DynamicBrokerConfig$"
    };

    public static void main(String[] arguments) throws Exception {
        for (String place : PLACES) {
            try {
                Class<?> type = Class.forName(place);
                Method modes = type.getMethod("dynamicConfigUpdateModes");
                Object scala = place.endsWith("$") ? type.getField("MODULE$").get(null) : null;
                new TreeMap<>((Map<?, ?>) modes.invoke(scala)).forEach((name, mode) -> System.out.println(name + "\t" + mode));
                return;
            } catch (ReflectiveOperationException | LinkageError elsewhere) {
                continue;
            }
        }
        throw new IllegalStateException("no DynamicBrokerConfig");
    }
}
