import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Transactions of Kafka's Java client, requested line by line: JSON in, JSON out (eosctl/lab/verify/driver.py describes the form).
 *
 * <p>Each actor has its own client and thread, because the client's calls block.
 */
public final class VerifyDriver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream ANSWERS = System.out;
    private static final int ASK_MS = 5_000;

    private VerifyDriver() {
    }

    /** Reads the cluster's address from the first line, and ends with its input. */
    public static void main(String[] args) throws Exception {
        System.setOut(System.err); // an unconfigured log4j writes to standard output, which is for answers
        Map<String, Actor> actors = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> cluster = DriverAccess.settings(JSON.readTree(lines.readLine()));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode ask = JSON.readTree(line);
            String name = ask.get("actor").asText();
            if (ask.get("op").asText().equals("drop")) {
                Actor gone = actors.remove(name);
                if (gone != null) {
                    new Thread(gone::drop).start(); // not in the actor's own thread, which may wait for the client
                }
                continue;
            }
            Actor actor = actors.computeIfAbsent(name, unused -> new Actor(cluster));
            actor.thread.submit(() -> answer(ask, actor));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(JsonNode ask, Actor actor) {
        ObjectNode answer = JSON.createObjectNode().put("number", ask.get("number").asLong());
        try {
            actor.act(ask, answer);
        } catch (Throwable error) {
            Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
            answer.put("error", cause.toString()).put("class", classOf(cause));
        }
        synchronized (ANSWERS) {
            ANSWERS.println(answer);
            ANSWERS.flush();
        }
    }

    /** What is left to do about an error, as the documentation of KafkaProducer says. */
    private static String classOf(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProducerFencedException || cause instanceof InvalidProducerEpochException) {
                return "fenced";
            }
        }
        if (error instanceof TimeoutException) {
            return "again";
        }
        return error instanceof org.apache.kafka.common.KafkaException ? "abortable" : "fatal";
    }

    private static final class Actor {
        final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work);
            made.setDaemon(true);
            return made;
        });
        private final Map<String, Object> cluster;
        private volatile KafkaProducer<String, String> producer;
        private KafkaConsumer<String, String> consumer;
        private String topic;
        private final Map<TopicPartition, Long> taken = new HashMap<>();

        Actor(Map<String, Object> cluster) {
            this.cluster = cluster;
        }

        void act(JsonNode ask, ObjectNode answer) throws Exception {
            switch (ask.get("op").asText()) {
                case "open":
                    open(ask.get("transactional_id").asText(), ask.get("timeout_ms").asInt());
                    if (ask.has("group") && consumer == null) {
                        join(ask.get("group").asText(), ask.get("topic").asText());
                    }
                    break;
                case "begin":
                    producer.beginTransaction();
                    break;
                case "append":
                    ProducerRecord<String, String> record = new ProducerRecord<>(
                        ask.get("topic").asText(), ask.get("partition").asInt(), null, ask.get("value").asText());
                    answer.put("offset", producer.send(record).get().offset());
                    break;
                case "offsets":
                    sendOffsets(ask.get("offsets"));
                    break;
                case "commit":
                    producer.commitTransaction();
                    taken.clear();
                    break;
                case "abort":
                    producer.abortTransaction();
                    rewind();
                    break;
                case "take":
                    take(ask, answer.putArray("records"));
                    break;
                case "read":
                    read(ask, answer.putArray("records"));
                    break;
                default:
                    throw new IllegalArgumentException("unknown op");
            }
        }

        private void open(String transactionalId, int timeoutMs) {
            if (producer == null) {
                Map<String, Object> settings = new HashMap<>(cluster);
                settings.put("transactional.id", transactionalId);
                settings.put("transaction.timeout.ms", timeoutMs);
                settings.put("linger.ms", 0);
                settings.put("max.block.ms", ASK_MS);
                settings.put("request.timeout.ms", 3_000);
                settings.put("delivery.timeout.ms", 10_000);
                producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
            }
            producer.initTransactions();
        }

        private KafkaConsumer<String, String> consume(Map<String, Object> more) {
            Map<String, Object> settings = new HashMap<>(cluster);
            settings.put("isolation.level", "read_committed");
            settings.put("enable.auto.commit", "false");
            settings.put("auto.offset.reset", "earliest");
            settings.put("default.api.timeout.ms", ASK_MS);
            settings.put("request.timeout.ms", 3_000);
            settings.putAll(more);
            return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        }

        private void join(String group, String topic) {
            this.topic = topic;
            consumer = consume(Map.of(
                "group.id", group, "max.poll.records", 20, "max.poll.interval.ms", 6_000,
                "session.timeout.ms", 6_000, "heartbeat.interval.ms", 500));
            consumer.subscribe(List.of(topic));
        }

        private void take(JsonNode ask, ArrayNode records) {
            poll(ask, records);
            for (JsonNode one : records) {
                taken.putIfAbsent(new TopicPartition(topic, one.get(0).asInt()), one.get(1).asLong());
            }
        }

        private void sendOffsets(JsonNode asked) {
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            for (JsonNode one : asked) {
                offsets.put(new TopicPartition(topic, one.get(0).asInt()), new OffsetAndMetadata(one.get(1).asLong()));
            }
            producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        }

        /** Rewinds to the input of an aborted transaction, for partitions that this member still owns. */
        private void rewind() {
            if (consumer != null) {
                taken.keySet().retainAll(consumer.assignment());
                taken.forEach(consumer::seek);
            }
            taken.clear();
        }

        private void read(JsonNode ask, ArrayNode records) {
            if (consumer == null) {
                List<TopicPartition> places = new ArrayList<>();
                for (int index = 0; index < ask.get("count").asInt(); index++) {
                    places.add(new TopicPartition(ask.get("topic").asText(), index));
                }
                consumer = consume(Map.of());
                consumer.assign(places);
                consumer.seekToBeginning(places);
            }
            poll(ask, records);
        }

        private void poll(JsonNode ask, ArrayNode records) {
            for (ConsumerRecord<String, String> found : consumer.poll(Duration.ofMillis(ask.get("wait_ms").asLong()))) {
                records.addArray().add(found.partition()).add(found.offset()).add(found.value());
            }
        }

        /** Ends without a word to the broker, as a process that dies; what waits for the client then fails. */
        void drop() {
            if (producer != null) {
                producer.close(Duration.ZERO);
            }
            thread.submit(() -> {
                if (consumer != null) {
                    consumer.close();
                }
            });
            thread.shutdown();
        }
    }
}
