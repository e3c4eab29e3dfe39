package peer

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestFailureText(t *testing.T) {
	for text, want := range map[string]string{"": "", "not today": "not today", strings.Repeat("ä", MaxFailureText): strings.Repeat("ä", MaxFailureText/2)} {
		if got := failureText(errors.New(text)); string(got) != want {
			t.Errorf("%q", got)
		}
	}
	if got := failureText(errors.New("x" + strings.Repeat("ä", MaxFailureText))); len(got) != MaxFailureText-1 {
		t.Errorf("%d bytes of a text whose last letter is cut in two", len(got))
	}
}

// FuzzFrame reads anything; what is read is written as it was.
func FuzzFrame(f *testing.F) {
	f.Add(appendFrame(nil, opRequest, 1, []byte("how much")))
	f.Add(appendFrame(nil, opReply, 1<<40, nil))
	f.Add(appendFrame(nil, opFailure, 7, make([]byte, MaxFailureText)))
	f.Add(appendFrame(nil, opFailure, 7, make([]byte, MaxFailureText+1)))
	f.Add(appendFrame(nil, opRequest, 0, nil))
	f.Add([]byte{callKind, 7})
	f.Add([]byte{callKind})
	f.Add([]byte{callKind, 0x80})
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) == 0 || msg[0] != callKind {
			return
		}
		op, id, body, err := parseFrame(msg)
		if err != nil {
			return
		}
		if again := appendFrame(nil, op, id, body); !bytes.Equal(again, msg) || id == 0 || op > opFailure {
			t.Errorf("%x reads as %d of call %d, which is %x", msg, op, id, again)
		}
	})
}
