// Transactions of franz-go, asked for line by line: JSON in, JSON out (eosctl/lab/verify/driver.py tells the form).
//
// Each actor has a client and a goroutine of its own, as the calls of the client wait.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	askTime   = 5 * time.Second
	takeCount = 20
	readCount = 1000
)

type ask struct {
	Number          int64  `json:"number"`
	Actor           string `json:"actor"`
	Op              string `json:"op"`
	TransactionalID string `json:"transactional_id"`
	TimeoutMs       int64  `json:"timeout_ms"`
	Topic           string `json:"topic"`
	Partition       int32  `json:"partition"`
	Value           string `json:"value"`
	WaitMs          int64  `json:"wait_ms"`
	Group           string `json:"group"`
	Count           int32  `json:"count"`
}

type answer struct {
	Number  int64    `json:"number"`
	Error   string   `json:"error,omitempty"`
	Class   string   `json:"class,omitempty"`
	Offset  int64    `json:"offset"`
	Records [][3]any `json:"records,omitempty"`
	Aborted bool     `json:"aborted,omitempty"`
}

type actor struct {
	asks    chan ask
	cluster []kgo.Opt
	client  atomic.Pointer[kgo.Client]
	session *kgo.GroupTransactSession // of a member of a group: it ends transactions as the group allows
}

var (
	answers   = json.NewEncoder(os.Stdout)
	answering sync.Mutex
)

func main() {
	actors := map[string]*actor{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	lines.Scan()
	cluster, err := clusterOptions(lines.Bytes())
	if err != nil {
		panic(err)
	}
	for lines.Scan() {
		var one ask
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		whose, ok := actors[one.Actor]
		if one.Op == "drop" {
			if ok {
				close(whose.asks)
				delete(actors, one.Actor)
				go whose.drop()
			}
			continue
		}
		if !ok {
			whose = &actor{asks: make(chan ask, 100), cluster: cluster}
			actors[one.Actor] = whose
			go whose.live()
		}
		whose.asks <- one
	}
}

func (a *actor) live() {
	for one := range a.asks {
		told := answer{Number: one.Number}
		if err := a.act(one, &told); err != nil {
			told.Error, told.Class = err.Error(), class(one.Op, err)
		}
		answering.Lock()
		_ = answers.Encode(told)
		answering.Unlock()
	}
}

func (a *actor) act(one ask, told *answer) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	switch one.Op {
	case "open":
		return a.open(ctx, one)
	case "begin":
		return a.client.Load().BeginTransaction()
	case "append":
		record := &kgo.Record{Topic: one.Topic, Partition: one.Partition, Value: []byte(one.Value)}
		// Bounded by the delivery timeout: a cancelled context would leave the batch's fate open.
		err := a.client.Load().ProduceSync(context.Background(), record).FirstErr()
		told.Offset = record.Offset
		return err
	case "offsets":
		return nil // the session commits those of what was taken when the transaction ends
	case "commit":
		return a.end(kgo.TryCommit, told)
	case "abort":
		return a.end(kgo.TryAbort, told)
	case "take":
		return a.take(one, told)
	case "read":
		return a.read(one, told)
	}
	return errors.New("unknown op")
}

// drop ends the client without a word to the broker, as a process that dies; what waits for the client then fails.
func (a *actor) drop() {
	if client := a.client.Load(); client != nil {
		client.Close()
	}
}

func (a *actor) open(ctx context.Context, one ask) error {
	if a.client.Load() == nil {
		if err := a.create(one); err != nil {
			return err
		}
	}
	_, _, err := a.client.Load().ProducerID(ctx) // initialises, and so fences whoever had the id
	return err
}

func (a *actor) create(one ask) error {
	options := a.with(
		kgo.TransactionalID(one.TransactionalID),
		kgo.TransactionTimeout(time.Duration(one.TimeoutMs)*time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RecordDeliveryTimeout(10*time.Second),
		kgo.RequestTimeoutOverhead(3*time.Second),
	)
	if one.Group == "" {
		client, err := kgo.NewClient(options...)
		if err == nil {
			a.client.Store(client)
		}
		return err
	}
	session, err := kgo.NewGroupTransactSession(append(options,
		kgo.ConsumerGroup(one.Group),
		kgo.ConsumeTopics(one.Topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.SessionTimeout(6*time.Second),
		kgo.RebalanceTimeout(6*time.Second),
		kgo.HeartbeatInterval(500*time.Millisecond),
	)...)
	if err == nil {
		a.session = session
		a.client.Store(session.Client())
	}
	return err
}

func (a *actor) with(more ...kgo.Opt) []kgo.Opt {
	return append(append([]kgo.Opt{}, a.cluster...), more...)
}

func (a *actor) end(how kgo.TransactionEndTry, told *answer) error {
	if a.session == nil {
		return a.client.Load().EndTransaction(context.Background(), how)
	}
	committed, err := a.session.End(context.Background(), how)
	told.Aborted = !committed
	return err
}

func (a *actor) take(one ask, told *answer) error {
	a.poll(one, takeCount, told)
	return nil
}

func (a *actor) poll(one ask, count int, told *answer) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(one.WaitMs)*time.Millisecond)
	defer cancel()
	a.client.Load().PollRecords(ctx, count).EachRecord(func(found *kgo.Record) {
		told.Records = append(told.Records, [3]any{found.Partition, found.Offset, string(found.Value)})
	})
}

func (a *actor) read(one ask, told *answer) error {
	if a.client.Load() == nil {
		places := map[int32]kgo.Offset{}
		for index := int32(0); index < one.Count; index++ {
			places[index] = kgo.NewOffset().AtStart()
		}
		client, err := kgo.NewClient(a.with(
			kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{one.Topic: places}),
			kgo.FetchIsolationLevel(kgo.ReadCommitted()),
			kgo.FetchMaxWait(100*time.Millisecond),
		)...)
		if err != nil {
			return err
		}
		a.client.Store(client)
	}
	a.poll(one, readCount, told)
	return nil
}

// class tells what is left to do about an error, as the documentation of EndTransaction says.
func class(op string, err error) string {
	switch {
	case errors.Is(err, kerr.ProducerFenced), errors.Is(err, kerr.InvalidProducerEpoch):
		return "fenced"
	case op == "open":
		return "again"
	case op == "append", errors.Is(err, kerr.OperationNotAttempted), errors.Is(err, kerr.TransactionAbortable):
		return "abortable"
	}
	return "fatal"
}
