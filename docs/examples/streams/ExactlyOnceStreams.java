import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProcessingExceptionHandler;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * A template for Kafka Streams 4.2 and later: numbers and prices the orders of each customer, exactly once.
 *
 * <pre>java -cp 'libs/*:.' ExactlyOnceStreams streams.properties orders invoices</pre>
 *
 * <p>What makes it exactly-once:
 * <ul>
 * <li>processing.guarantee=exactly_once_v2: results, dead letters, changes of the store and input offsets are parts of one
 *     transaction, and the input is read with read_committed;
 * <li>dead letters go through the handler's answer, so that Streams sends them with the producer of the task; a producer
 *     of one's own would leave them behind when the transaction is aborted;
 * <li>only what can never be handled is rejected; any other error ends the process without a commit, and its supervisor
 *     starts it again;
 * <li>nothing outside of Kafka is changed while a record is processed: that would be done again after an abort.
 * </ul>
 *
 * <p>Check it: eosctl verify dlq --read orders --write invoices --dlq rejected --group pricing --yes
 */
public final class ExactlyOnceStreams {
    static final String STORE = "invoice-numbers";

    private ExactlyOnceStreams() {
    }

    /** A record that cannot be handled, now or later. */
    static final class Unfit extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unfit(String reason) {
            super(reason);
        }
    }

    /** Makes a result of an order; your code goes here. */
    static String price(String order) {
        if (order.startsWith("poison")) {
            throw new Unfit("it is poison");
        }
        return "priced " + order;
    }

    /** Numbers the invoices of each customer without gaps. */
    static final class Invoicing implements FixedKeyProcessor<String, String, String> {
        private FixedKeyProcessorContext<String, String> context;
        private KeyValueStore<String, Long> numbers;

        @Override
        public void init(FixedKeyProcessorContext<String, String> given) {
            context = given;
            numbers = given.getStateStore(STORE);
        }

        @Override
        public void process(FixedKeyRecord<String, String> order) {
            String priced = price(order.value()); // first, as nothing undoes what a failed record did to the store
            Long last = numbers.get(order.key());
            long number = last == null ? 1 : last + 1;
            numbers.put(order.key(), number);
            context.forward(order.withValue("#" + number + " " + priced));
        }
    }

    /** Hands what can never be handled to the dead-letter topic, in the transaction of its input. */
    public static final class Rejecting implements ProcessingExceptionHandler {
        private String deadLetters;

        @Override
        public void configure(Map<String, ?> settings) {
            deadLetters = (String) settings.get(StreamsConfig.ERRORS_DEAD_LETTER_QUEUE_TOPIC_NAME_CONFIG);
        }

        @Override
        public Response handleError(ErrorHandlerContext context, Record<?, ?> record, Exception error) {
            if (deadLetters == null || !(error instanceof Unfit)) {
                return Response.fail();
            }
            ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>(
                deadLetters, null, context.timestamp(), context.sourceRawKey(), context.sourceRawValue(), context.headers());
            return Response.resume(List.of(letter));
        }
    }

    static Topology topology(String orders, String invoices) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(
            Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(STORE), Serdes.String(), Serdes.Long()));
        builder.stream(orders, Consumed.with(Serdes.String(), Serdes.String()))
            .processValues(Invoicing::new, Named.as("invoicing"), STORE)
            .to(invoices, Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }

    /** Arguments: the file of settings, the input, the output. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Properties settings = new Properties();
        try (var file = Files.newInputStream(Path.of(args[0]))) {
            settings.load(file);
        }
        CountDownLatch ended = new CountDownLatch(1);
        AtomicInteger exitCode = new AtomicInteger();
        KafkaStreams streams = new KafkaStreams(topology(args[1], args[2]), settings);
        streams.setUncaughtExceptionHandler(error -> {
            System.err.println("ending: " + error);
            exitCode.set(1);
            ended.countDown();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        // A clean close writes down where the stores are; after any other end they are restored.
        Thread closing = new Thread(() -> streams.close(Duration.ofSeconds(30)));
        Runtime.getRuntime().addShutdownHook(closing);
        streams.start();
        ended.await();
        System.exit(exitCode.get());
    }
}
