import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;

/** The settings of Kafka's Java clients for reaching a cluster (eosctl/lab/verify/driver_access.py describes the form). */
final class DriverAccess {
    private static final String MODULES = "org.apache.kafka.common.security.";
    private static final long TOKEN_ENDS_MS = 4_102_444_800_000L;

    private DriverAccess() {
    }

    static Map<String, Object> settings(JsonNode access) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", access.get("bootstrap").asText());
        settings.put("security.protocol", access.get("protocol").asText());
        if (access.has("ca")) {
            boolean verifies = access.get("verify_hostname").asBoolean();
            settings.put("ssl.endpoint.identification.algorithm", verifies ? "https" : "");
            if (!access.get("ca").asText().isEmpty()) {
                settings.put("ssl.truststore.type", "PEM");
                settings.put("ssl.truststore.certificates", access.get("ca").asText());
            }
            if (!access.get("certificate").asText().isEmpty()) {
                settings.put("ssl.keystore.type", "PEM");
                settings.put("ssl.keystore.certificate.chain", access.get("certificate").asText());
                settings.put("ssl.keystore.key", access.get("key").asText());
            }
        }
        if (access.has("mechanism")) {
            settings.put("sasl.mechanism", access.get("mechanism").asText());
            settings.put("sasl.jaas.config", login(access));
            if (!access.get("token").asText().isEmpty()) {
                Token.value = access.get("token").asText();
                settings.put("sasl.login.callback.handler.class", Token.class.getName());
            }
        }
        return settings;
    }

    private static String login(JsonNode access) {
        switch (access.get("mechanism").asText()) {
            case "OAUTHBEARER":
                return MODULES + "oauthbearer.OAuthBearerLoginModule required;";
            case "PLAIN":
                return MODULES + "plain.PlainLoginModule required" + credentials(access);
            default:
                return MODULES + "scram.ScramLoginModule required" + credentials(access);
        }
    }

    private static String credentials(JsonNode access) {
        return " username=" + quoted(access.get("username")) + " password=" + quoted(access.get("password")) + ";";
    }

    private static String quoted(JsonNode text) {
        return '"' + text.asText().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Returns the given token and never requests another one. */
    public static final class Token implements AuthenticateCallbackHandler {
        private static volatile String value;

        @Override
        public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {
        }

        @Override
        public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
            for (Callback callback : callbacks) {
                if (callback instanceof OAuthBearerTokenCallback) {
                    ((OAuthBearerTokenCallback) callback).token(new Given());
                } else {
                    throw new UnsupportedCallbackException(callback);
                }
            }
        }

        @Override
        public void close() {
        }
    }

    private static final class Given implements OAuthBearerToken {
        @Override
        public String value() {
            return Token.value;
        }

        @Override
        public Set<String> scope() {
            return Set.of();
        }

        @Override
        public long lifetimeMs() {
            return TOKEN_ENDS_MS;
        }

        @Override
        public String principalName() {
            return "eosctl";
        }

        @Override
        public Long startTimeMs() {
            return null;
        }
    }
}
