package stream

import (
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	if err := (Config{Salt: 1}).Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	bad := Config{
		MaxQueued: 10, UnreliableQueued: -1, MaxMessage: -1, MaxChannels: -1, MaxPending: -1,
		Inactivity: time.Second, KeepAlive: time.Second, CloseWait: -1, HelloTimeout: 1,
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, field := range []string{"UnreliableQueued", "MaxMessage", "MaxChannels", "MaxPending", "Inactivity", "CloseWait", "HelloTimeout"} {
		if !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s is not named in %q", field, err)
		}
	}
	if err := (Config{Salt: 1, MaxQueued: 1 << 20}).Validate(); err == nil || !strings.Contains(err.Error(), "MaxQueued") {
		t.Errorf("MaxQueued of one message without its header: %v", err)
	}
}
