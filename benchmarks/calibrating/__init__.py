"""What calibration measures beyond `eosctl capacity calibrate`: a real JVM, and waits of readers."""
