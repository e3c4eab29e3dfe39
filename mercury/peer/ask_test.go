package peer_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/peer"
)

// A question is answered, refused, given up by its context, or ended with its channel, and always
// once.
func TestAsk(t *testing.T) {
	key := newKey(t)
	asked := make(chan peer.Channel, 10)
	server := listen(t, key, peer.Config{Message: ignore, Answer: func(c peer.Channel, request []byte) ([]byte, error) {
		switch asked <- c; string(request) {
		case "no":
			return nil, errors.New("not today")
		case "end":
			c.Abort()
		case "wait":
			time.Sleep(50 * time.Millisecond)
		}
		return append([]byte("you said "), request...), nil
	}})
	conn, err := dial(t, server, key.Public(), peer.Config{Message: ignore})
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.Ask(t.Context(), []byte("yes")); err != nil || string(reply) != "you said yes" {
		t.Errorf("%q, %v", reply, err)
	}
	var failure peer.Failure
	if reply, err := conn.Ask(t.Context(), []byte("no")); !errors.As(err, &failure) || failure != "not today" || reply != nil {
		t.Errorf("%q, %v", reply, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if reply, err := conn.Ask(ctx, []byte("wait")); !errors.Is(err, context.DeadlineExceeded) || reply != nil {
		t.Errorf("%q, %v", reply, err)
	}
	// The client has nobody who answers.
	refused := make(chan error, 1)
	c := <-asked
	if err := server.Do(func() {
		if err := c.Ask(nil, func(_ []byte, err error) { refused <- err }); err != nil {
			t.Error(err)
		}
	}); err != nil || !errors.As(wait(t, "a refusal", refused), &failure) {
		t.Errorf("%v, %v", err, failure)
	}
	if reply, err := conn.Ask(t.Context(), []byte("end")); !errors.Is(err, mercury.ErrPeerAborted) || reply != nil {
		t.Errorf("%q, %v", reply, err)
	}
	_ = conn.Close()
	if _, err := conn.Ask(t.Context(), nil); !errors.Is(err, host.ErrStopped) {
		t.Errorf("after Close: %v", err)
	}
}

// Messages that begin as requests do come as they were sent.
func TestMessagesLikeRequests(t *testing.T) {
	key := newKey(t)
	got := make(chan []byte, 10)
	server := listen(t, key, peer.Config{Message: func(_ peer.Channel, _ bool, msg []byte) { got <- bytes.Clone(msg) }})
	conn, err := dial(t, server, key.Public(), peer.Config{Message: ignore})
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range [][]byte{{}, {0xC0}, {0xC0, 4}, {0xC1, 0xC0}, {0xC2}, {0xC1}} {
		if err := conn.Send(msg); err != nil {
			t.Fatal(err)
		}
		if came := wait(t, "the message", got); !bytes.Equal(came, msg) {
			t.Errorf("%x came as %x", msg, came)
		}
	}
}
