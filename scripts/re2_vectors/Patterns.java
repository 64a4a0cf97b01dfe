import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Prints what RE2/J, the library of Kafka's brokers, makes of patterns: for each line "PATTERN TEXT TEXT ..." of
 * hexadecimal UTF-8 a line "PATTERN RESULT", in which the result is the error, or 1 or 0 for each text.
 */
public class Patterns {
    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ", -1);
            out.println(parts[0] + "\t" + result(parts));
        }
        out.flush();
    }

    private static String result(String[] parts) {
        try {
            Pattern pattern = Pattern.compile(text(parts[0]));
            StringBuilder found = new StringBuilder();
            for (int at = 1; at < parts.length; at++) {
                found.append(pattern.matches(text(parts[at])) ? '1' : '0');
            }
            return found.toString();
        } catch (PatternSyntaxException error) {
            return error.getDescription();
        }
    }

    private static String text(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) Integer.parseInt(hex.substring(2 * at, 2 * at + 2), 16);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
