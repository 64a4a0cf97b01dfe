import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ConsumerSeekAware;

/**
 * Copies the topic of the property {@code in} to that of {@code out}, as configured by Spring Boot alone.
 *
 * Prints {@code running} when it has partitions. Records are sent in the transaction that their listener runs in.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
public class SpringCopy {
    public static void main(String[] args) {
        SpringApplication.run(SpringCopy.class, args);
    }

    @Bean
    Copier copier(KafkaTemplate<Object, Object> template, @Value("${out}") String out) {
        return new Copier(template, out);
    }

    /** The listener. */
    public static class Copier implements ConsumerSeekAware {
        private final KafkaTemplate<Object, Object> template;
        private final String out;

        Copier(KafkaTemplate<Object, Object> template, String out) {
            this.template = template;
            this.out = out;
        }

        @KafkaListener(topics = "${in}")
        public void copy(List<String> values) {
            values.forEach(value -> template.send(out, value));
        }

        @Override
        public void onPartitionsAssigned(Map<TopicPartition, Long> assignments, ConsumerSeekCallback callback) {
            System.out.println("running");
        }
    }
}
