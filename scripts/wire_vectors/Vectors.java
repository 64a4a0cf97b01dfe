import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.record.internal.MemoryRecords;

/**
 * Prints messages as Kafka's own classes serialize them: for each version of each class one with every field set, and
 * a sparse one whose arrays are empty and whose nullable fields are null. A line is a JSON object: kafka, class,
 * version, hex, json.
 */
public final class Vectors {
    private static final String PACKAGE = "org.apache.kafka.common.message.";
    private static final String LETTERS = "abc09-._\u00e9\u4e16";
    private final Random chance;
    private final boolean full;

    private Vectors(long seed, boolean full) {
        this.chance = new Random(seed);
        this.full = full;
    }

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class<?> kind = Class.forName(PACKAGE + name);
            Method toJson = Class.forName(PACKAGE + name + "JsonConverter").getMethod("write", kind, short.class);
            Schema[] schemas = (Schema[]) kind.getField("SCHEMAS").get(null);
            for (short version = 0; version < schemas.length; version++) {
                if (schemas[version] == null) {
                    continue;
                }
                for (boolean full : new boolean[] {true, false}) {
                    Vectors vectors = new Vectors(name.hashCode() * 31L + version, full);
                    Message message = (Message) vectors.struct(kind, schemas[version]);
                    ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
                    byte[] wire = new byte[bytes.remaining()];
                    bytes.get(wire);
                    JsonNode json = (JsonNode) toJson.invoke(null, message, version);
                    System.out.printf("{\"kafka\":\"%s\",\"class\":\"%s\",\"version\":%d,\"hex\":\"%s\",\"json\":%s}%n",
                        release(), name, version, HexFormat.of().formatHex(wire), json);
                }
            }
        }
    }

    /** A struct with the fields that the schema of its version has, and no others: Kafka refuses to write those. */
    private Object struct(Class<?> kind, Schema schema) throws Exception {
        Object made = kind.getConstructor().newInstance();
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields tagged) {
                for (Field field : tagged.fields().values()) {
                    set(made, field);
                }
            } else {
                set(made, bound.def);
            }
        }
        return made;
    }

    private void set(Object made, Field field) throws Exception {
        if (!full && field.type.isArray() && !field.type.isNullable()) {
            return;
        }
        String wanted = "set" + field.name.replace("_", "").toLowerCase();
        for (Method method : made.getClass().getMethods()) {
            // A setter returns the object that it was called on.
            if (method.getParameterCount() == 1 && method.getReturnType() == made.getClass()
                && method.getName().toLowerCase().equals(wanted)) {
                boolean isLeftOut = !full && field.type.isNullable();
                method.invoke(made, isLeftOut ? null : value(method.getGenericParameterTypes()[0], field.type));
                return;
            }
        }
        throw new IllegalStateException(made.getClass() + " cannot be given " + field.name);
    }

    private Object value(Type type, org.apache.kafka.common.protocol.types.Type wire) throws Exception {
        if (wire.isArray()) {
            return array(type, wire.arrayElementType().get());
        }
        Class<?> kind = (Class<?>) type;
        if (wire instanceof Schema schema) {
            return struct(kind, schema);
        }
        return switch (kind.getSimpleName()) {
            case "boolean", "Boolean" -> full;
            case "byte", "Byte" -> (byte) chance.nextInt();
            case "short", "Short" -> (short) chance.nextInt();
            case "int", "Integer" -> wire.toString().contains("UINT16") ? chance.nextInt(1 << 16) : chance.nextInt();
            case "long", "Long" -> chance.nextLong();
            case "double", "Double" -> chance.nextDouble();
            case "String" -> text();
            case "byte[]" -> text().getBytes("UTF-8");
            case "ByteBuffer" -> ByteBuffer.wrap(text().getBytes("UTF-8"));
            case "Uuid" -> new Uuid(chance.nextLong(), chance.nextLong());
            case "BaseRecords" -> MemoryRecords.EMPTY;
            default -> throw new IllegalStateException("no value is known for a " + kind);
        };
    }

    @SuppressWarnings("unchecked")
    private Object array(Type type, org.apache.kafka.common.protocol.types.Type element) throws Exception {
        boolean isList = type instanceof ParameterizedType;
        ParameterizedType declared = (ParameterizedType) (isList ? type : ((Class<?>) type).getGenericSuperclass());
        Collection<Object> made = isList
            ? new ArrayList<>() : (Collection<Object>) ((Class<?>) type).getConstructor().newInstance();
        for (int count = full ? 1 + chance.nextInt(3) : 0; count > 0; count--) {
            made.add(value(declared.getActualTypeArguments()[0], element));
        }
        return made;
    }

    private String text() {
        StringBuilder made = new StringBuilder();
        for (int length = 1 + chance.nextInt(9); length > 0; length--) {
            made.append(LETTERS.charAt(chance.nextInt(LETTERS.length())));
        }
        return made.toString();
    }

    /** The release of the jar; the class that knows it moves from release to release. */
    private static String release() throws java.io.IOException {
        java.util.Properties facts = new java.util.Properties();
        try (java.io.InputStream file = Vectors.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            facts.load(file);
        }
        return facts.getProperty("version");
    }
}
