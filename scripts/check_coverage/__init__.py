"""What is expected of rules and checks, and the page that shows where it is met."""
