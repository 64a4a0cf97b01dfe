// Transactions, fencing and offsets with KafkaJS; prints one line of JSON for each outcome.
const { Kafka, logLevel } = require("kafkajs");

const [brokers, name] = process.argv.slice(2);
const kafka = new Kafka({ brokers: brokers.split(","), logLevel: logLevel.NOTHING });

const print = (what, outcome) => console.log(JSON.stringify([what, outcome]));
const open = (suffix) =>
  kafka.producer({ transactionalId: `${name}-${suffix}`, maxInFlightRequests: 1, idempotent: true });

async function read(topic, groupId, count) {
  const consumer = kafka.consumer({ groupId, heartbeatInterval: 200 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const found = [];
  await new Promise((resolve) =>
    consumer.run({
      eachMessage: async ({ message }) => {
        found.push(`${message.offset} ${message.value}`);
        if (found.length === count) resolve();
      },
    }),
  );
  await consumer.disconnect();
  return found;
}

async function main() {
  const admin = kafka.admin();
  await admin.connect();
  const [source, target] = [`${name}-source`, `${name}-target`];
  await admin.createTopics({ topics: [source, target].map((topic) => ({ topic, numPartitions: 1 })) });

  const producer = open("writer");
  await producer.connect();
  for (const end of ["commit", "abort", "commit"]) {
    const transaction = await producer.transaction();
    await transaction.send({ topic: source, messages: [{ value: end }] });
    await transaction[end]();
  }
  print("committed", await read(source, `${name}-readers`, 2));

  for (const end of ["abort", "commit"]) {
    const transaction = await producer.transaction();
    await transaction.send({ topic: target, messages: [{ value: `result ${end}` }] });
    const topics = [{ topic: source, partitions: [{ partition: 0, offset: "5" }] }];
    await transaction.sendOffsets({ consumerGroupId: `${name}-ctp`, topics });
    await transaction[end]();
    // The coordinator answers before the markers are written; until then the old offset stands.
    let offset;
    const deadline = Date.now() + 20000;
    do {
      const [{ partitions }] = await admin.fetchOffsets({ groupId: `${name}-ctp`, topics: [source] });
      offset = partitions[0].offset;
    } while (end === "commit" && offset !== "5" && Date.now() < deadline);
    print(`offset after ${end}`, offset);
  }
  print("target", await read(target, `${name}-target-readers`, 1));

  const zombie = await producer.transaction();
  await zombie.send({ topic: target, messages: [{ value: "zombie" }] });
  const successor = open("writer");
  await successor.connect();
  const winning = await successor.transaction();
  await winning.send({ topic: target, messages: [{ value: "successor" }] });
  await zombie.commit().then(
    () => print("zombie", "committed"),
    (error) => print("zombie", "refused"),
  );
  await winning.commit();
  print("fencing", await read(target, `${name}-fencing-readers`, 2));
  for (const client of [producer, successor, admin]) await client.disconnect();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
