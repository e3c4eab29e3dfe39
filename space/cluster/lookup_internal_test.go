package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
)

// An address that is known stays as long as it is one of those that are found.
func TestLookupKeepsWhatHolds(t *testing.T) {
	a, b, c := netip.MustParseAddrPort("10.0.0.1:7"), netip.MustParseAddrPort("10.0.0.2:7"), netip.MustParseAddrPort("10.0.0.3:7")
	found, fault := []netip.AddrPort{a, b}, error(nil)
	var log strings.Builder
	l := newLookup([]string{"managers"}, func(context.Context, string) ([]netip.AddrPort, error) { return found, fault }, slog.New(slog.NewTextHandler(&log, nil)))
	defer l.quit()
	step := func(want netip.AddrPort, addrs ...netip.AddrPort) {
		t.Helper()
		if found = addrs; l.round(t.Context()) != nil && len(addrs) > 0 && fault == nil || l.first() != want {
			t.Errorf("at %v, want %v", l.first(), want)
		}
	}
	step(a, a, b)
	step(a, b, a)
	step(b, b, c) // a has gone
	step(b)       // a name that stands for nothing
	fault = errors.New("no such host")
	step(b, c)
	step(b, c)
	fault = nil
	step(c, c)
	l.pin(c)
	step(c, a)
	if n := strings.Count(log.String(), "has no address"); n != 1 || strings.Count(log.String(), "again") != 1 {
		t.Errorf("logged:\n%s", log.String())
	}
}

func TestResolveHost(t *testing.T) {
	if at, err := resolveHost(t.Context(), "127.0.0.1:7"); err != nil || len(at) != 1 || at[0] != netip.MustParseAddrPort("127.0.0.1:7") {
		t.Error(at, err)
	}
	for _, bad := range []string{"", "host", ":7", "127.0.0.1:nosuchservice"} {
		if at, err := resolveHost(t.Context(), bad); err == nil {
			t.Errorf("%q is at %v", bad, at)
		}
	}
}
