// Transactions, fencing and offsets with franz-go; prints one line for each outcome.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var bootstrap, name = os.Args[1], os.Args[2]

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func check(err error) { must(0, err) }

func client(options ...kgo.Opt) *kgo.Client {
	return must(kgo.NewClient(append(options, kgo.SeedBrokers(bootstrap))...))
}

func send(ctx context.Context, producer *kgo.Client, topic, value string) error {
	return producer.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr()
}

func read(ctx context.Context, topic string, count int) []string {
	consumer := client(
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)
	defer consumer.Close()
	var found []string
	for len(found) < count {
		fetches := consumer.PollFetches(ctx)
		check(fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { found = append(found, fmt.Sprintf("%d %s", r.Offset, r.Value)) })
	}
	return found
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	source, target := name+"-source", name+"-target"
	admin := kadm.NewClient(client())
	must(admin.CreateTopics(ctx, 1, 1, nil, source, target))

	producer := client(kgo.TransactionalID(name + "-writer"))
	for _, commit := range []bool{true, false, true} {
		check(producer.BeginTransaction())
		check(send(ctx, producer, source, fmt.Sprint("commit ", commit)))
		check(producer.EndTransaction(ctx, kgo.TransactionEndTry(commit)))
	}
	fmt.Println("committed", read(ctx, source, 2))

	session := must(kgo.NewGroupTransactSession(
		kgo.SeedBrokers(bootstrap),
		kgo.TransactionalID(name+"-ctp"),
		kgo.ConsumerGroup(name+"-ctp"),
		kgo.ConsumeTopics(source),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
	))
	for _, commit := range []kgo.TransactionEndTry{false, true} {
		fetched := 0
		check(session.Begin())
		for fetched < 2 {
			fetches := session.PollFetches(ctx)
			check(fetches.Err())
			fetches.EachRecord(func(r *kgo.Record) {
				fetched++
				check(session.ProduceSync(ctx, &kgo.Record{Topic: target, Value: r.Value}).FirstErr())
			})
		}
		committed := must(session.End(ctx, commit))
		// The coordinator answers before the markers are written; until then the old offset stands.
		offset, _ := must(admin.FetchOffsets(ctx, name+"-ctp")).Lookup(source, 0)
		for bool(commit) && offset.At != 5 && ctx.Err() == nil {
			offset, _ = must(admin.FetchOffsets(ctx, name+"-ctp")).Lookup(source, 0)
		}
		fmt.Println("transaction", committed, "offset", offset.At)
	}
	session.Close()
	fmt.Println("target", read(ctx, target, 2))

	check(producer.BeginTransaction())
	check(send(ctx, producer, target, "zombie"))
	successor := client(kgo.TransactionalID(name + "-writer"))
	check(successor.BeginTransaction())
	check(send(ctx, successor, target, "successor"))
	err := producer.EndTransaction(ctx, kgo.TryCommit)
	fenced := errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)
	fmt.Println("zombie fenced", fenced, err)
	check(successor.EndTransaction(ctx, kgo.TryCommit))
	fmt.Println("fencing", read(ctx, target, 3)[2])
}
