"""What carries log lines and puts something around them: collectors, exports, JSON."""
