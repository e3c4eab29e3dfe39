package cluster_test

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/stream"
)

// A crowd is another process, so that its descriptors are not the world's: it begins to open as many
// connections as it is told to, from several addresses, and goes no further.
type crowd struct {
	opened int
	stdin  io.WriteCloser
	cmd    *exec.Cmd
}

// crowdEnv tells a crowd its network, door, number and first datagram.
const crowdEnv = "CELLSCAPE_TEST_CROWD"

// crowdAt starts a crowd, and returns when all stand at the door.
func crowdAt(t *testing.T, network string, at netip.AddrPort, n int, key secure.PublicKey) *crowd {
	t.Helper()
	var first []byte
	if network == "udp" {
		first = firstDatagram(t, key)
	}
	x := &crowd{cmd: testProcess("TestCrowd", fmt.Sprintf("%s=%s %v %d %s", crowdEnv, network, at, n, hex.EncodeToString(first)))}
	in, opened, err := startUntil(t, x.cmd, "crowd ")
	if err != nil {
		t.Fatalf("the crowd of %s: %v", network, err)
	}
	if x.opened, err = strconv.Atoi(opened); err != nil {
		t.Fatal(err)
	}
	x.stdin = in
	return x
}

func (x *crowd) leave(t *testing.T) {
	t.Helper()
	_ = x.stdin.Close()
	if err := x.cmd.Wait(); err != nil {
		t.Errorf("the crowd: %v", err)
	}
}

// firstDatagram is what opens a sealed channel over UDP, of a dialler whom nobody answers.
func firstDatagram(t *testing.T, key secure.PublicKey) []byte {
	t.Helper()
	ear, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ear.Close() }()
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	i := &intruder{say: []byte{1}, to: mercury.Address{At: netip.MustParseAddrPort(ear.LocalAddr().String())}, out: make(chan error, 4)}
	_, err = h.Start("first", "127.0.0.1:0", func(e host.Env) (host.App, error) { i.env = e; return i, nil },
		host.Secure(secure.Config{ServerKey: key}))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2048)
	_ = ear.SetReadDeadline(time.Now().Add(patience))
	n, _, err := ear.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}

// TestCrowd is the other process; see crowdAt.
func TestCrowd(t *testing.T) {
	spec := strings.Split(os.Getenv(crowdEnv), " ")
	if len(spec) < 4 {
		t.Skip("TestHalfOpenDoors runs it as a process of its own")
	}
	at := netip.MustParseAddrPort(spec[1])
	n, err := strconv.Atoi(spec[2])
	if err != nil {
		t.Fatal(err)
	}
	first, err := hex.DecodeString(spec[3])
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	if spec[0] == "quic" {
		opened = beginQUIC(t, at, n)
	} else {
		opened = beginAll(t, spec[0], at, n, first)
	}
	fmt.Printf("crowd %d\n", opened)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it may leave
}

// crowdAddresses are how many addresses of the loopback network a crowd comes from.
const crowdAddresses = 8

// beginAll opens a socket for each of n. Over UDP it says how a channel begins, and then what makes no
// sense; over TCP every other begins TLS.
func beginAll(t *testing.T, network string, at netip.AddrPort, n int, first []byte) int {
	var opened atomic.Int64
	var wg sync.WaitGroup
	for k := range crowdAddresses {
		wg.Go(func() {
			ip := net.IPv4(127, 0, 0, byte(2+k))
			d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: ip}}
			name := "tcp"
			if network == "udp" {
				name, d.LocalAddr = "udp", &net.UDPAddr{IP: ip}
			}
			for i := range n / crowdAddresses {
				c, err := d.Dial(name, at.String())
				if err != nil {
					t.Logf("%s, %d from %v: %v", network, i, ip, err)
					return
				}
				t.Cleanup(func() { _ = c.Close() })
				opened.Add(1)
				switch {
				case network == "udp":
					_, _ = c.Write(first)
					_, _ = c.Write(bytes.Repeat([]byte{0x5a}, 1200))
					if i%2 == 0 {
						time.Sleep(time.Millisecond) // loopback drops what comes all at once
					}
				case i%2 == 0:
					_, _ = c.Write([]byte("\x16\x03\x01\x40\x00")) // the first bytes of TLS
				}
			}
		})
	}
	wg.Wait()
	return int(opened.Load())
}

// beginQUIC says how n connections begin, and hears no answer.
func beginQUIC(t *testing.T, at netip.AddrPort, n int) int {
	ear, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ear.Close() }()
	to, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	var begun atomic.Int64
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		seen := make(map[string]struct{}) // by the id of the connection
		b := make([]byte, 2048)
		for {
			size, _, err := ear.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = to.Write(b[:size])
			if size > 14 {
				seen[string(b[6:14])] = struct{}{}
				begun.Store(int64(len(seen)))
			}
		}
	}()
	const batch = 250 // the dialler's own handshakes take memory, too
	for deadline := time.Now().Add(patience); int(begun.Load()) < n && time.Now().Before(deadline); {
		x, err := quic.Listen("", quic.Config{Config: stream.Config{Salt: 1}, DialTLS: &tls.Config{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			x.Dial(mercury.Address{At: netip.MustParseAddrPort(ear.LocalAddr().String()), Salt: uint32(i + 2)})
		}
		for was := begun.Load(); begun.Load() < was+batch/2 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		_, _ = x.Receive(x.Now())
		_ = x.Release()
	}
	_ = ear.Close()
	<-heard
	return int(begun.Load())
}
