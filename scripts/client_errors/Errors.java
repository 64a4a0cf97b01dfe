import java.io.File;
import java.lang.reflect.Modifier;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Prints every exception class of Kafka's client jars on the class path, with its superclasses and its error code. */
public class Errors {
    public static void main(String[] arguments) throws Exception {
        Map<String, org.apache.kafka.common.protocol.Errors> codes = new HashMap<>();
        for (org.apache.kafka.common.protocol.Errors error : org.apache.kafka.common.protocol.Errors.values()) {
            if (error.exception() != null) codes.putIfAbsent(error.exception().getClass().getName(), error);
            String type = error.exception() == null ? "" : error.exception().getClass().getName();
            System.out.println("code\t" + error.code() + "\t" + error.name() + "\t" + type + "\t"
                + (error.message() == null ? "" : error.message().replaceAll("\\s+", " ")));
        }
        TreeMap<String, String> found = new TreeMap<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!path.endsWith(".jar")) continue;
            try (JarFile jar = new JarFile(path)) {
                for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements();) {
                    String name = entries.nextElement().getName();
                    if (!name.startsWith("org/apache/kafka/") || !name.endsWith("Exception.class")) continue;
                    if (name.contains("/shaded/") || name.contains("$")) continue;
                    try {
                        Class<?> type = Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false,
                            Errors.class.getClassLoader());
                        if (!Throwable.class.isAssignableFrom(type) || !Modifier.isPublic(type.getModifiers())) continue;
                        StringBuilder parents = new StringBuilder();
                        for (Class<?> at = type.getSuperclass(); at != null && at != RuntimeException.class
                            && at != Exception.class; at = at.getSuperclass())
                            parents.append(parents.length() == 0 ? "" : ",").append(at.getSimpleName());
                        found.put(type.getName(), parents.toString());
                    } catch (LinkageError | ClassNotFoundException missing) {
                        System.err.println("left out: " + name);
                    }
                }
            }
        }
        found.forEach((name, parents) -> System.out.println("class\t" + name + "\t" + parents));
    }
}
