import java.io.FileReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.connect.cli.ConnectDistributed;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Runs one client with a file of settings: records at a steady rate first, then as many as go, read by a second client.
 *
 * Arguments: producer|streams|connect|apart SETTINGS READER_SETTINGS BOOTSTRAP IN OUT DEAD RATE SECONDS. Every record
 * holds its number and its scheduled time; the reader's observations are printed as one line of JSON. Streams copies IN to
 * OUT and fails at every hundredth record. Apart means that another process, which runs already, copies IN to OUT.
 */
public class ProfileRun {
    private static final int IN_A_TRANSACTION = 10;
    private static final int POISON_EVERY = 100;
    /** Another process does not hold the feeding back: without a limit it would have to catch up for minutes. */
    private static final long MOST_APART = 50_000;
    private static final long WARM = -1;
    private static final Duration WAIT = Duration.ofMillis(100);
    private static final long PATIENCE_NS = 180_000_000_000L;

    private static String mode;
    private static String bootstrap;
    private static long rate;
    private static long seconds;

    /** Where the records come from: paced up to a number, then as fast as they are asked for, for the same time. */
    static class Schedule {
        private final long paced = rate * seconds;
        private final long began = System.nanoTime();
        private long flatOutSince;
        private long next;

        /** Waits for the next record's scheduled time and returns it; 0 after the last record. */
        synchronized long due() {
            long now = System.nanoTime();
            if (next < paced) {
                long due = began + next * 1_000_000_000L / rate;
                while ((now = System.nanoTime()) < due) {
                    LockSupport.parkNanos(due - now);
                }
                next++;
                return due;
            }
            if (flatOutSince == 0) {
                flatOutSince = now;
            }
            if (now - flatOutSince > seconds * 1_000_000_000L || mode.equals("apart") && next - paced >= MOST_APART) {
                return 0;
            }
            next++;
            return now;
        }

        /** Whether the next record may be sent now, by schedule or by pace. */
        synchronized boolean isDue() {
            return next >= paced || System.nanoTime() >= began + next * 1_000_000_000L / rate;
        }

        synchronized long given() {
            return next;
        }

        long paced() {
            return paced;
        }
    }

    /** What the reader saw. */
    static class Seen {
        final Map<Long, Integer> times = new ConcurrentHashMap<>();
        final List<Long> delays = new ArrayList<>();
        final AtomicLong dead = new AtomicLong();
        volatile long flatOutFrom;
        volatile long last;
        /** Counted down when the reader has its partitions; earlier waits do not count as delay. */
        final CountDownLatch ready = new CountDownLatch(1);
        /** Counted down when a first record has gone all the way. */
        final CountDownLatch warm = new CountDownLatch(1);
    }

    public static void main(String[] args) throws Exception {
        mode = args[0];
        bootstrap = args[3];
        rate = Long.parseLong(args[7]);
        seconds = Long.parseLong(args[8]);
        String in = args[4];
        String out = args[5];
        Properties settings = read(args[1]);
        Seen seen = new Seen();
        Schedule schedule;
        Thread reader = new Thread(() -> watch(args[2], out, args[6], seen), "reader");
        reader.setDaemon(true);
        if (mode.equals("producer")) {
            reader.start();
            try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                boolean transactional = settings.containsKey("transactional.id");
                if (transactional) {
                    producer.initTransactions();
                }
                seen.ready.await();
                schedule = new Schedule();
                produce(producer, transactional, out, schedule);
            }
        } else if (mode.equals("streams")) {
            StreamsBuilder builder = new StreamsBuilder();
            builder.stream(in, Consumed.with(Serdes.String(), Serdes.String()))
                .mapValues(ProfileRun::copied)
                .to(out, Produced.with(Serdes.String(), Serdes.String()));
            KafkaStreams streams = new KafkaStreams(builder.build(), settings);
            streams.start();
            while (streams.state() != KafkaStreams.State.RUNNING) {
                Thread.sleep(50);
            }
            reader.start();
            schedule = feed(in, seen);
        } else if (mode.equals("apart")) {
            reader.start();
            schedule = feed(in, seen);
        } else {
            reader.start();
            seen.ready.await();
            Map<String, String> worker = new HashMap<>();
            settings.forEach((key, value) -> worker.put((String) key, (String) value));
            worker.put("key.converter", "org.apache.kafka.connect.storage.StringConverter");
            worker.put("value.converter", "org.apache.kafka.connect.storage.StringConverter");
            worker.put("listeners", "http://127.0.0.1:0");
            worker.put("plugin.discovery", "only_scan");
            new ConnectDistributed().startConnect(worker).herder().putConnectorConfig("source", Map.of(
                "name", "source", "connector.class", Steady.class.getName(), "tasks.max", "1", "out", out,
                "exactly.once.support", "required"), true, (error, created) -> { });
            while (SteadyTask.schedule == null || !SteadyTask.ended) {
                Thread.sleep(50);
            }
            schedule = SteadyTask.schedule;
        }
        print(schedule, seen);
        Runtime.getRuntime().halt(0);
    }

    private static Schedule feed(String topic, Seen seen) throws InterruptedException {
        seen.ready.await();
        Properties feeding = new Properties();
        feeding.put("bootstrap.servers", bootstrap);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(feeding, new StringSerializer(), new StringSerializer())) {
            // What an application does for its first transaction is done once in its life.
            producer.send(new ProducerRecord<>(topic, null, WARM + " 0"));
            producer.flush();
            seen.warm.await();
            Schedule schedule = new Schedule();
            produce(producer, false, topic, schedule);
            return schedule;
        }
    }

    private static Properties read(String file) throws Exception {
        Properties settings = new Properties();
        try (FileReader reader = new FileReader(file)) {
            settings.load(reader);
        }
        settings.put("bootstrap.servers", bootstrap);
        return settings;
    }

    private static String copied(String value) {
        if (Long.parseLong(value.split(" ")[0]) % POISON_EVERY == POISON_EVERY - 1 && mode.equals("streams")
            && Boolean.getBoolean("poison")) {
            throw new IllegalStateException("a record that cannot be processed");
        }
        return value;
    }

    private static void produce(KafkaProducer<String, String> producer, boolean transactional, String topic, Schedule schedule) {
        long number = 0;
        for (long due = schedule.due(); due != 0; ) {
            if (transactional) {
                producer.beginTransaction();
            }
            for (int index = 0; due != 0 && index < (transactional ? IN_A_TRANSACTION : 1); index++) {
                producer.send(new ProducerRecord<>(topic, null, number++ + " " + due));
                due = schedule.due();
            }
            if (transactional) {
                producer.commitTransaction();
            }
        }
        producer.flush();
    }

    private static void watch(String file, String out, String dead, Seen seen) {
        try {
            Properties settings = read(file);
            try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(dead.isEmpty() ? List.of(out) : List.of(out, dead), new ConsumerRebalanceListener() {
                    @Override
                    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                        seen.ready.countDown();
                    }

                    @Override
                    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    }
                });
                while (true) {
                    for (ConsumerRecord<String, String> record : consumer.poll(WAIT)) {
                        long now = System.nanoTime();
                        String[] parts = record.value().split(" ");
                        long number = Long.parseLong(parts[0]);
                        if (number == WARM) {
                            seen.warm.countDown();
                            continue;
                        }
                        seen.times.merge(number, 1, Integer::sum);
                        if (record.topic().equals(dead)) {
                            seen.dead.incrementAndGet();
                        } else if (number < rate * seconds) {
                            synchronized (seen.delays) {
                                seen.delays.add(now - Long.parseLong(parts[1]));
                            }
                        } else {
                            if (seen.flatOutFrom == 0) {
                                seen.flatOutFrom = Long.parseLong(parts[1]);
                            }
                            seen.last = now;
                        }
                    }
                }
            }
        } catch (Exception error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void print(Schedule schedule, Seen seen) throws InterruptedException {
        long given = schedule.given();
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (seen.times.size() < given && System.nanoTime() < deadline) {
            Thread.sleep(50);
        }
        Thread.sleep(500);  // for those that would come twice
        long twice = seen.times.values().stream().filter(count -> count > 1).count();
        List<Long> delays = new ArrayList<>(seen.delays);
        // The first second is that of connections and of the compiler.
        delays = delays.subList(Math.min((int) rate, delays.size() - 1), delays.size());
        delays.sort(null);
        double flatOut = (seen.last - seen.flatOutFrom) / 1e9;
        System.out.printf("{\"given\": %d, \"seen\": %d, \"twice\": %d, \"dead\": %d, \"p50_ms\": %.1f, \"p99_ms\": %.1f, \"records_per_s\": %.0f}%n",
            given, seen.times.size(), twice, seen.dead.get(), delays.get(delays.size() / 2) / 1e6,
            delays.get(delays.size() * 99 / 100) / 1e6, (given - schedule.paced()) / flatOut);
    }

    /** A source that supports exactly-once. */
    public static class Steady extends SourceConnector {
        private Map<String, String> config;

        @Override
        public void start(Map<String, String> config) {
            this.config = config;
        }

        @Override
        public void stop() {
        }

        @Override
        public Class<? extends Task> taskClass() {
            return SteadyTask.class;
        }

        @Override
        public List<Map<String, String>> taskConfigs(int maxTasks) {
            return List.of(config);
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> config) {
            return ExactlyOnceSupport.SUPPORTED;
        }

        @Override
        public String version() {
            return "1";
        }
    }

    /** Returns the records scheduled so far. */
    public static class SteadyTask extends SourceTask {
        private static final int BATCH = 500;
        static volatile Schedule schedule;
        static volatile boolean ended;
        private String out;
        private long number;

        @Override
        public void start(Map<String, String> config) {
            out = config.get("out");
            schedule = new Schedule();
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            List<SourceRecord> records = new ArrayList<>();
            long due = 0;
            while (!ended && records.size() < BATCH && (records.isEmpty() || schedule.isDue())
                && (due = schedule.due()) != 0) {
                records.add(new SourceRecord(Map.of("source", "steady"), Map.of("number", number), out,
                    Schema.OPTIONAL_STRING_SCHEMA, null, Schema.STRING_SCHEMA, number + " " + due));
                number++;
            }
            if (ended || records.isEmpty()) {
                ended = true;
                Thread.sleep(50);
                return records.isEmpty() ? null : records;
            }
            return records;
        }

        @Override
        public void stop() {
        }

        @Override
        public String version() {
            return "1";
        }
    }
}
