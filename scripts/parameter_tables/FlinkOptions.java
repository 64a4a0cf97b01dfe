import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Prints the options that a release of Flink's Kafka connector declares, one a line: name, type, default (with "=" before
 * it), choices. The connector and flink-core, flink-table-common, flink-table-api-java, flink-connector-base and
 * flink-annotations of the release that it was built for stand on the class path.
 */
public class FlinkOptions {
    private static final List<String> CLASSES = List.of(
        "org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions",
        "org.apache.flink.connector.kafka.source.KafkaSourceOptions");

    public static void main(String[] arguments) throws Exception {
        Map<String, String> lines = new TreeMap<>();
        for (String name : CLASSES) {
            for (Field field : Class.forName(name).getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType().getSimpleName().equals("ConfigOption")) {
                    field.setAccessible(true);
                    Object option = field.get(null);
                    lines.put((String) call(option, "key"), describe(option));
                }
            }
        }
        lines.values().forEach(System.out::println);
    }

    private static String describe(Object option) throws Exception {
        Class<?> type = (Class<?>) call(option, "getClazz");
        boolean list = (boolean) call(option, "isList");
        Object value = call(option, "defaultValue");
        String choices = type.isEnum()
            ? Arrays.stream(type.getEnumConstants()).map(Object::toString).collect(Collectors.joining(", "))
            : "";
        return String.join("\t", (String) call(option, "key"), list ? "list" : kind(type),
            value == null ? "" : "=" + text(value), choices);
    }

    private static String kind(Class<?> type) {
        return type.isEnum() ? "enum" : type.getSimpleName().toLowerCase();
    }

    private static String text(Object value) {
        return value instanceof List ? ((List<?>) value).stream().map(String::valueOf).collect(Collectors.joining(","))
            : value instanceof java.time.Duration ? ((java.time.Duration) value).toMillis() + " ms"
            : String.valueOf(value);
    }

    private static Object call(Object target, String name) throws Exception {
        Method method;
        try {
            method = target.getClass().getMethod(name);
        } catch (NoSuchMethodException e) {
            method = target.getClass().getDeclaredMethod(name);
        }
        method.setAccessible(true);
        return method.invoke(target);
    }
}
