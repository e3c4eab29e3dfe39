package secure_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// What is good in one run of a fuzz target is made from fixed seeds, so that the seeds of the
// corpus are the good bytes themselves and the fuzzer begins next to them.

func FuzzAnswer(f *testing.F) {
	s := newStage(f, secure.AESGCM)
	hello := bytes.Clone(s.dial().Hello())
	f.Add(hello)
	f.Add(hello[:48])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, bad []byte) {
		reply, err := s.server.Answer(nil, s.now, clientAt, bind, bad)
		if (err == nil) != bytes.Equal(bad, hello) {
			t.Fatalf("hello %x: %v", bad, err)
		}
		if err == nil && len(reply) > mercury.MaxReply || err != nil && len(reply) != 0 {
			t.Fatalf("%d bytes of reply, %v", len(reply), err)
		}
	})
}

// FuzzAnswerAtAnInnerDoor feeds what is shown to a door that lets members in only.
func FuzzAnswerAtAnInnerDoor(f *testing.F) {
	s := newInner(f, secure.AESGCM, mercury.Member)
	hello := bytes.Clone(s.dial().Hello())
	f.Add(hello)
	f.Add(hello[:49])
	f.Add(append(bytes.Clone(hello[:1]), hello[9:]...))
	f.Fuzz(func(t *testing.T, bad []byte) {
		reply, err := s.server.Answer(nil, s.now, clientAt, bind, bad)
		if (err == nil) != bytes.Equal(bad, hello) || err != nil && (!errors.Is(err, secure.ErrHello) || len(reply) != 0) {
			t.Fatalf("hello %x: %v", bad, err)
		}
	})
}

func FuzzFinish(f *testing.F) {
	s := newStage(f, secure.AESGCM)
	d := s.dial()
	reply := s.answer(d.Hello())
	f.Add(reply)
	f.Add(reply[:100])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, bad []byte) {
		if bytes.Equal(bad, reply) {
			return // it would end the handshake that all runs share
		}
		if _, _, err := d.Finish(s.now, bad); !errors.Is(err, secure.ErrReply) {
			t.Fatalf("reply %x: %v", bad, err)
		}
	})
}

func FuzzAdmit(f *testing.F) {
	s := newStage(f, secure.AESGCM)
	pass := s.connect().pass
	s.keepTicket()
	early := s.early()
	for _, p := range [][]byte{pass, early, pass[:20], early[1:], {}} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, bad []byte) {
		got, err := s.server.Admit(s.now, clientAt, bind, bad)
		good := bytes.Equal(bad, pass) || bytes.Equal(bad, early)
		if err == nil && !good || err != nil && !errors.Is(err, mercury.ErrPass) || (err == nil) != (got != nil) {
			t.Fatalf("pass %x: %v, %v", bad, got, err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	p := newStage(f, secure.AESGCM).connect()
	packet := sealed(p.client, "some text", 5)
	f.Add(packet, uint64(5))
	f.Add(packet, uint64(6))
	f.Add(packet[:headSize+15], uint64(5))
	f.Add([]byte{}, uint64(1<<63))
	f.Fuzz(func(t *testing.T, bad []byte, number uint64) {
		good := number == 5 && bytes.Equal(bad, packet)
		text, err := p.server.Open(bytes.Clone(bad), headSize, number)
		if (err == nil) != good || err != nil && text != nil {
			t.Fatalf("packet %x as %d: %q, %v", bad, number, text, err)
		}
	})
}

// FuzzKeep feeds tickets that a server of another version, or none, might give.
func FuzzKeep(f *testing.F) {
	s := newStage(f, secure.AESGCM)
	ticket := s.server.Ticket(nil, s.now, clientAt)
	f.Add(ticket)
	f.Add(ticket[:50])
	f.Fuzz(func(t *testing.T, ticket []byte) {
		s.client.Keep(s.now, serverAt, ticket)
		d, err := s.client.Dial(s.now, serverAt, bind)
		if err != nil {
			t.Fatal(err)
		}
		pass, _, ok := d.Early()
		if ok && len(pass) > mercury.MaxPass {
			t.Fatalf("a pass of %d bytes", len(pass))
		}
	})
}
