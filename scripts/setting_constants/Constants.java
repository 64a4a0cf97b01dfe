import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Prints every constant of Kafka's configuration classes on the class path that names a setting: its name and the setting's. */
public final class Constants {
    public static void main(String[] arguments) throws Exception {
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!path.endsWith(".jar")) continue;
            try (JarFile jar = new JarFile(path)) {
                for (JarEntry entry : Collections.list(jar.entries())) {
                    String name = entry.getName();
                    if (!name.startsWith("org/apache/kafka/") && !name.startsWith("kafka/")) continue;
                    if (!name.matches(".*Configs?\\.class") || name.contains("/shaded/")) continue;
                    print(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            }
        }
    }

    private static void print(String type) {
        try {
            for (Field field : Class.forName(type).getDeclaredFields()) {
                boolean isConstant = Modifier.isStatic(field.getModifiers()) && Modifier.isFinal(field.getModifiers());
                if (!isConstant || field.getType() != String.class || !field.getName().endsWith("_CONFIG")) continue;
                field.setAccessible(true);
                System.out.println(field.getName() + "\t" + field.get(null));
            }
        } catch (LinkageError | ReflectiveOperationException missing) {
            System.err.println("left out: " + type);
        }
    }
}
