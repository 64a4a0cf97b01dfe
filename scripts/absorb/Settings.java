import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints what one Kafka release declares of its settings, one a line: component, name, type, default, bounds, internal,
 * importance, and detail: how a broker setting is updated, or the broker settings that give a topic setting its default.
 */
public final class Settings {
    private static final String[][] COMPONENTS = {
        {"producer", "org.apache.kafka.clients.producer.ProducerConfig"},
        {"consumer", "org.apache.kafka.clients.consumer.ConsumerConfig"},
        {"admin", "org.apache.kafka.clients.admin.AdminClientConfig"},
        {"streams", "org.apache.kafka.streams.StreamsConfig"},
        {"broker", "kafka.server.KafkaConfig", "kafka.server.KafkaConfig$"},
        {"topic", "org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig", "kafka.log.LogConfig$"},
        {"group", "org.apache.kafka.coordinator.group.GroupConfig"},
        {"connect-worker", "org.apache.kafka.connect.runtime.distributed.DistributedConfig"},
        {"source-connector", "org.apache.kafka.connect.runtime.SourceConnectorConfig"},
        {"sink-connector", "org.apache.kafka.connect.runtime.SinkConnectorConfig"},
    };

    /** MirrorMaker 2 is three connectors and a program around them; people write all of it into one file. */
    private static final String[] MIRROR_MAKER = {
        "org.apache.kafka.connect.mirror.MirrorConnectorConfig",
        "org.apache.kafka.connect.mirror.MirrorSourceConfig",
        "org.apache.kafka.connect.mirror.MirrorCheckpointConfig",
        "org.apache.kafka.connect.mirror.MirrorHeartbeatConfig",
        "org.apache.kafka.connect.mirror.MirrorMakerConfig",
    };

    private static final String[] UPDATE_MODES = {
        "org.apache.kafka.server.config.DynamicBrokerConfig", "kafka.server.DynamicBrokerConfig$"
    };
    private static final String SYNONYMS = "org.apache.kafka.server.config.ServerTopicConfigSynonyms";

    private static Map<?, ?> updateModes = Map.of();
    private static Map<?, ?> topicSynonyms = Map.of();

    public static void main(String[] arguments) throws Exception {
        updateModes = updateModes();
        topicSynonyms = topicSynonyms();
        for (String[] component : COMPONENTS) {
            ConfigDef found = find(component);
            if (found == null) {
                System.err.println("none: " + component[0]);
                continue;
            }
            for (Map.Entry<String, ConfigDef.ConfigKey> entry : found.configKeys().entrySet()) {
                print(component[0], entry.getValue());
            }
            if (component[0].equals("broker")) {
                printOnlyDynamic(found);
            }
        }
        Map<String, ConfigDef.ConfigKey> mirrorMaker = new java.util.TreeMap<>();
        for (String name : MIRROR_MAKER) {
            ConfigDef found = find(new String[] {"mirror-maker", name});
            if (found != null) {
                mirrorMaker.putAll(found.configKeys());
            }
        }
        mirrorMaker.values().forEach(key -> print("mirror-maker", key));
    }

    private static void print(String component, ConfigDef.ConfigKey key) {
        Object fallback = key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null;
        System.out.println(String.join("\t",
            component, key.name, key.type.toString(),
            key.hasDefault() ? (fallback == null ? "null" : "=" + oneLine(fallback.toString())) : "required",
            key.validator == null ? "" : oneLine(key.validator.toString()),
            internal(key) ? "internal" : "",
            key.importance.name().toLowerCase(java.util.Locale.ROOT),
            detail(component, key.name)));
    }

    /** Settings that no file can hold, which brokers take while they run: throttles of replication. */
    private static void printOnlyDynamic(ConfigDef broker) {
        for (Map.Entry<?, ?> entry : updateModes.entrySet()) {
            if (!broker.configKeys().containsKey(String.valueOf(entry.getKey()))) {
                System.out.println("dynamic-broker\t" + entry.getKey() + "\tLONG\tnull\t\t\t\t" + entry.getValue());
            }
        }
    }

    private static String detail(String component, String name) {
        if (component.equals("broker")) {
            return String.valueOf(updateModes.containsKey(name) ? updateModes.get(name) : "read-only");
        }
        List<String> names = new ArrayList<>();
        if (component.equals("topic") && topicSynonyms.get(name) instanceof List<?> synonyms) {
            for (Object synonym : synonyms) {
                try {
                    Method accessor = synonym.getClass().getMethod("name");
                    accessor.setAccessible(true);
                    names.add(String.valueOf(accessor.invoke(synonym)));
                } catch (ReflectiveOperationException other) {
                    throw new IllegalStateException(other);
                }
            }
        }
        return String.join(",", names);
    }

    /** Which broker settings change without a restart: per-broker or cluster-wide; by name. */
    private static Map<?, ?> updateModes() {
        for (String place : UPDATE_MODES) {
            try {
                Class<?> type = Class.forName(place);
                Object scala = place.endsWith("$") ? type.getField("MODULE$").get(null) : null;
                Object found = type.getMethod("dynamicConfigUpdateModes").invoke(scala);
                if (found instanceof Map<?, ?> modes) {
                    return modes;
                }
            } catch (ReflectiveOperationException | LinkageError elsewhere) {
                continue;
            }
        }
        System.err.println("none: update modes");
        return Map.of();
    }

    private static Map<?, ?> topicSynonyms() {
        try {
            return (Map<?, ?>) Class.forName(SYNONYMS).getField("ALL_TOPIC_CONFIG_SYNONYMS").get(null);
        } catch (ReflectiveOperationException | LinkageError absentInOldReleases) {
            return Map.of();
        }
    }

    private static boolean internal(ConfigDef.ConfigKey key) {
        try {
            Field field = ConfigDef.ConfigKey.class.getField("internalConfig");
            return field.getBoolean(key);
        } catch (ReflectiveOperationException absentInOldReleases) {
            return false;
        }
    }

    private static String oneLine(String text) {
        return text.replace("\n", " ").replace("\t", " ");
    }

    /** The declaration's place differs from release to release: take the largest that the class can give. */
    private static ConfigDef find(String[] component) {
        ConfigDef best = null;
        for (int index = 1; index < component.length; index++) {
            for (ConfigDef candidate : candidates(component[index])) {
                if (best == null || candidate.configKeys().size() > best.configKeys().size()) {
                    best = candidate;
                }
            }
        }
        return best;
    }

    private static List<ConfigDef> candidates(String name) {
        List<ConfigDef> found = new ArrayList<>();
        Class<?> type;
        try {
            type = Class.forName(name);
        } catch (ReflectiveOperationException | LinkageError absent) {
            return found;
        }
        Object module = null;
        try {
            module = type.getField("MODULE$").get(null);
        } catch (ReflectiveOperationException notScala) {
            module = null;
        }
        for (Field field : type.getDeclaredFields()) {
            // LogConfig.SERVER_CONFIG_DEF are the broker's names for the same things.
            if (ConfigDef.class.isAssignableFrom(field.getType()) && !field.getName().startsWith("SERVER_")) {
                try {
                    field.setAccessible(true);
                    Object value = field.get(Modifier.isStatic(field.getModifiers()) ? null : module);
                    if (value != null) {
                        found.add((ConfigDef) value);
                    }
                } catch (ReflectiveOperationException | RuntimeException hidden) {
                    continue;
                }
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (ConfigDef.class.isAssignableFrom(method.getReturnType()) && method.getParameterCount() == 0) {
                try {
                    method.setAccessible(true);
                    Object value = method.invoke(Modifier.isStatic(method.getModifiers()) ? null : module);
                    if (value != null) {
                        found.add((ConfigDef) value);
                    }
                } catch (ReflectiveOperationException | RuntimeException hidden) {
                    continue;
                }
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            // DistributedConfig.config(Crypto): its bounds depend on the machine's algorithms, its names do not.
            if (ConfigDef.class.isAssignableFrom(method.getReturnType()) && method.getParameterCount() == 1) {
                try {
                    method.setAccessible(true);
                    Object system = method.getParameterTypes()[0].getField("SYSTEM").get(null);
                    found.add((ConfigDef) method.invoke(null, system));
                } catch (ReflectiveOperationException | RuntimeException other) {
                    continue;
                }
            }
        }
        return found;
    }
}
