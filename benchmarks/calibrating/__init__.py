"""Calibration beyond `eosctl capacity calibrate`: a real JVM, and visibility delays."""
