package org.apache.kafka.connect.mirror;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Prints for each line "kind TAB key=value|key=value" what MirrorMaker makes of it for the flow from east to west:
 * "dedicated" and "connector" give the isolation level of the source's consumer, "support" the worker's exactly-once.
 */
public final class MirrorSpellings {
    private static final Map<String, String> CLUSTERS = Map.of(
        "clusters", "east, west", "east.bootstrap.servers", "e:1", "west.bootstrap.servers", "w:1",
        "east->west.enabled", "true", "plugin.discovery", "service_load"); // scans no class path
    private static final Map<String, String> CONNECTOR = Map.of(
        "name", "m", "connector.class", "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias", "east", "target.cluster.alias", "west",
        "source.cluster.bootstrap.servers", "e:1", "target.cluster.bootstrap.servers", "w:1");

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] parts = line.split("\t", 2);
            Map<String, String> given = new HashMap<>(parts[0].equals("connector") ? CONNECTOR : CLUSTERS);
            for (String pair : parts[1].split("\\|")) {
                given.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
            }
            System.out.println(line + "\t" + answer(parts[0], given));
        }
    }

    private static Object answer(String kind, Map<String, String> given) throws Exception {
        SourceAndTarget flow = new SourceAndTarget("east", "west");
        switch (kind) {
            case "support":
                return new MirrorMakerConfig(given).workerConfig(flow).get("exactly.once.source.support");
            case "dedicated":
                return level(new MirrorMakerConfig(given).connectorBaseConfig(flow, MirrorSourceConnector.class));
            default:
                return level(given);
        }
    }

    private static Object level(Map<String, String> connector) throws Exception {
        Constructor<?> constructor = config().getDeclaredConstructor(Map.class);
        constructor.setAccessible(true);
        Object config = constructor.newInstance(connector);
        for (Class<?> type = config.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals("sourceConsumerConfig") && !Modifier.isStatic(method.getModifiers())) {
                    method.setAccessible(true);
                    Object consumer = method.getParameterCount() == 0
                        ? method.invoke(config) : method.invoke(config, "replication-consumer");
                    return ((Map<?, ?>) consumer).get("isolation.level");
                }
            }
        }
        throw new IllegalStateException("MirrorMaker has no sourceConsumerConfig");
    }

    private static Class<?> config() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.connect.mirror.MirrorSourceConfig");
        } catch (ClassNotFoundException before35) {
            return Class.forName("org.apache.kafka.connect.mirror.MirrorConnectorConfig");
        }
    }
}
