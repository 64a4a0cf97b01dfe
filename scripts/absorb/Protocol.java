import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Prints what one Kafka release knows beyond messages and settings, one fact a line: {@code error} code, name, exception
 * class, retriable; {@code metadata} level, name, what begins with it; {@code feature} name, lowest level, highest level
 * that is stable, level that a new cluster begins with.
 */
public final class Protocol {
    private static final String VERSIONS = "org.apache.kafka.server.common.MetadataVersion";
    private static final String[] FEATURES = {
        "org.apache.kafka.server.common.Feature", "org.apache.kafka.server.common.Features"
    };

    public static void main(String[] arguments) throws Exception {
        for (Errors error : Errors.values()) {
            String cause = error.exception() == null ? "" : error.exception().getClass().getSimpleName();
            print("error", error.code(), error.name(), cause, error.exception() instanceof RetriableException);
        }
        Class<?> versions = find(VERSIONS);
        if (versions == null) {
            return; // before 3.3, levels were settings (inter.broker.protocol.version)
        }
        printVersions(versions);
        printFeatures(versions);
    }

    private static void printVersions(Class<?> versions) throws Exception {
        Map<String, Boolean> before = new java.util.TreeMap<>();
        Object[] all = versions.getEnumConstants();
        Arrays.sort(all, Comparator.comparingInt(one -> ((Number) call(one, "featureLevel")).intValue()));
        for (Object version : all) {
            List<String> begins = new ArrayList<>();
            for (Method method : versions.getDeclaredMethods()) {
                if (!isQuestion(method) || method.getName().equals("didMetadataChange")) {
                    continue;
                }
                boolean now = (Boolean) method.invoke(version);
                if (now && !before.getOrDefault(method.getName(), false)) {
                    begins.add(method.getName());
                }
                before.put(method.getName(), now);
            }
            begins.sort(null);
            print("metadata", call(version, "featureLevel"), call(version, "version"), String.join(",", begins),
                    call(version, "didMetadataChange"));
        }
        Object newest = latest(versions);
        Object minimum = constant(versions, "MINIMUM", "MINIMUM_VERSION", "MINIMUM_KRAFT_VERSION");
        Object level = call(newest, "featureLevel");
        print("feature", "metadata.version", call(minimum, "featureLevel"), level, level);
    }

    private static void printFeatures(Class<?> versions) throws Exception {
        for (String place : FEATURES) {
            Class<?> features = find(place);
            if (features == null || !features.isEnum()) {
                continue;
            }
            for (Object feature : features.getEnumConstants()) {
                String name = String.valueOf(call(feature, "featureName"));
                if (name.startsWith("test.") || name.startsWith("unit.")) {
                    continue;
                }
                Object level = defaultLevel(features, versions).invoke(feature, latest(versions));
                print("feature", name, call(feature, "minimumProduction"), call(feature, "latestProduction"), level);
            }
            return;
        }
    }

    private static Method defaultLevel(Class<?> features, Class<?> versions) throws NoSuchMethodException {
        try {
            return features.getMethod("defaultLevel", versions);
        } catch (NoSuchMethodException beforeKafka4) {
            return features.getMethod("defaultValue", versions);
        }
    }

    private static boolean isQuestion(Method method) {
        return method.getReturnType() == boolean.class && method.getParameterCount() == 0
            && Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
    }

    private static Object latest(Class<?> versions) throws Exception {
        return constant(versions, "LATEST_PRODUCTION", "latest");
    }

    /** A constant, or what a static method of that name returns: it moved from one to the other. */
    private static Object constant(Class<?> type, String... names) throws Exception {
        for (String name : names) {
            try {
                return type.getField(name).get(null);
            } catch (NoSuchFieldException elsewhere) {
                try {
                    return type.getMethod(name).invoke(null);
                } catch (NoSuchMethodException nowhere) {
                    continue;
                }
            }
        }
        throw new IllegalStateException("none of " + Arrays.toString(names));
    }

    private static Object call(Object subject, String name) {
        try {
            return ((Enum<?>) subject).getDeclaringClass().getMethod(name).invoke(subject);
        } catch (NoSuchMethodException absent) {
            return 0;
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name);
        } catch (ReflectiveOperationException | LinkageError absent) {
            return null;
        }
    }

    private static void print(Object... cells) {
        System.out.println(String.join("\t", Arrays.stream(cells).map(String::valueOf).toList()));
    }
}
