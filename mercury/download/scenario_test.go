package download_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// downloadHost is an app with both sides of downloads over an Endpoint, which measures how long
// game messages take.
type downloadHost struct {
	mercurytest.Recorder
	w       *mercurytest.World
	up      *download.Uploads
	down    *download.Downloads
	sink    download.Memory
	latency []time.Duration
	ends    []error
}

func (h *downloadHost) Message(_ time.Duration, _ mercury.ChannelID, _ bool, msg []byte) {
	h.latency = append(h.latency, h.w.Now()-time.Duration(binary.LittleEndian.Uint64(msg)))
}

func (h *downloadHost) Bulk(now time.Duration, ch mercury.ChannelID, msg []byte) {
	if !h.up.Take(now, ch, msg) {
		h.down.Take(now, ch, msg)
	}
}

func (h *downloadHost) UploadEnded(_ time.Duration, _ mercury.ChannelID, _ uint32, err error) {
	h.ends = append(h.ends, err)
}

func (h *downloadHost) DownloadOffered(now time.Duration, ch mercury.ChannelID, o download.Offer) {
	if err := h.down.Accept(now, ch, o.ID, &h.sink, download.Part{}); err != nil {
		h.ends = append(h.ends, err)
	}
}

func (h *downloadHost) DownloadProgress(time.Duration, mercury.ChannelID, uint32, int64, int64) {}

func (h *downloadHost) DownloadEnded(_ time.Duration, _ mercury.ChannelID, _ uint32, _ download.Part, err error) {
	h.ends = append(h.ends, err)
}

// downloadWorld is a server and a client.
type downloadWorld struct {
	t              *testing.T
	w              *mercurytest.World
	ends           [2]*mercury.Endpoint
	hosts          [2]*downloadHost
	server, client mercury.ChannelID // of the server and of the client: the two ends of one channel
}

const downloadTick = 16 * time.Millisecond

func newDownloadWorld(t *testing.T, seed uint64, link mercurytest.Link, cfg download.UploadConfig) *downloadWorld {
	d := &downloadWorld{t: t, w: mercurytest.NewWorld(seed)}
	d.w.Net.SetLink(link)
	for i := range d.ends {
		h := &downloadHost{w: d.w}
		e := newEndpoint(t, i+1, uint32(i+1), h, mercury.Config{})
		var err error
		if h.up, err = download.NewUploads(e, h, cfg); err != nil {
			t.Fatal(err)
		}
		if h.down, err = download.NewDownloads(e, h, download.DownloadConfig{}); err != nil {
			t.Fatal(err)
		}
		d.w.Add(e)
		d.ends[i], d.hosts[i] = e, h
	}
	d.dial()
	return d
}

// dial opens a channel from the client to the server.
func (d *downloadWorld) dial() {
	d.client = d.ends[1].Dial(d.ends[0].Self())
	known := len(d.hosts[0].Order)
	if !d.w.RunUntil(5*time.Second, func() bool { return len(d.hosts[0].Order) > known }) {
		d.t.Fatal("the channel did not open")
	}
	d.server = d.hosts[0].Order[known]
}

// tick is one tick of both apps: 200 bytes each way, reliable and unreliable in turn.
func (d *downloadWorld) tick(n int) {
	msg := binary.LittleEndian.AppendUint64(nil, uint64(d.w.Now()))
	msg = append(msg, make([]byte, 200-len(msg))...)
	for i, ch := range []mercury.ChannelID{d.server, d.client} {
		err := error(nil)
		if n%2 == 1 {
			_, err = d.ends[i].SendUnreliable(ch, msg)
		} else {
			err = d.ends[i].Send(ch, msg)
		}
		if err != nil {
			d.t.Fatalf("tick %d: %v", n, err)
		}
		d.hosts[i].up.Pump(d.w.Now())
		d.hosts[i].down.Pump(d.w.Now())
	}
	d.w.Run(downloadTick)
}

// latencies gives the median and the 99th percentile of what a host has measured, and forgets it.
func (d *downloadWorld) latencies(host int) (median, p99 time.Duration) {
	l := slices.Sorted(slices.Values(d.hosts[host].latency))
	d.hosts[host].latency = nil
	return l[len(l)/2], l[len(l)*99/100]
}

// A download of 4 MiB beside game traffic, on a path of 50 ms round trip and 20 Mbit/s: the game
// feels less than a tick of it, with a share below what the path carries and also when the download
// takes all that is there.
func TestDownloadBesideGameTraffic(t *testing.T) {
	tests := []struct {
		name    string
		maxRate int64
		took    time.Duration // at most; 4 MiB at 20 Mbit/s take 1.7 s, hashing first takes 16 ticks
		p99     time.Duration // the most that it may rise
	}{
		{"all there is", 0, 3 * time.Second, downloadTick},
		{"a share of 12 Mbit/s", 12e6 / 8, 4 * time.Second, downloadTick},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link := mercurytest.Link{Delay: 25 * time.Millisecond, Rate: 20e6 / 8}
			d := newDownloadWorld(t, 1, link, download.UploadConfig{MaxRate: test.maxRate})
			n := 0
			for ; n < 300; n++ {
				d.tick(n)
			}
			var quiet [2]time.Duration
			for i := range quiet {
				_, quiet[i] = d.latencies(i)
			}
			content := make([]byte, 4<<20)
			for i := range content {
				content[i] = byte(i * i >> 8)
			}
			err := d.hosts[0].up.Offer(d.w.Now(), d.server, download.Content{ID: 1, Source: bytes.NewReader(content), Size: int64(len(content))})
			if err != nil {
				t.Fatal(err)
			}
			begun := d.w.Now()
			for ; len(d.hosts[0].ends) == 0 && d.w.Now() < begun+20*time.Second; n++ {
				d.tick(n)
			}
			if took := d.w.Now() - begun; took > test.took {
				t.Errorf("the download took %v", took)
			} else {
				t.Logf("the download took %v", took)
			}
			if fmt.Sprint(d.hosts[0].ends, d.hosts[1].ends) != "[<nil>] [<nil>]" || !bytes.Equal(d.hosts[1].sink.Bytes(), content) {
				t.Fatalf("endings %v, %v; %d bytes", d.hosts[0].ends, d.hosts[1].ends, len(d.hosts[1].sink.Bytes()))
			}
			for i, way := range []string{"server", "client"} {
				median, p99 := d.latencies(i)
				t.Logf("to the %s: p99 %v quiet; beside the download median %v, p99 %v", way, quiet[i], median, p99)
				if p99 > quiet[i]+test.p99 || median > quiet[i]+downloadTick/2 {
					t.Errorf("the %s's game feels the download", way)
				}
			}
		})
	}
}

// Loss, doubling and reordering on the way, both directions at once.
func TestDownloadOverBadLink(t *testing.T) {
	d := newDownloadWorld(t, 2, mercurytest.Link{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Reorder: 0.05}, download.UploadConfig{})
	content := bytes.Repeat([]byte("0123456789abcde"), 20000)
	for i, ch := range []mercury.ChannelID{d.server, d.client} {
		err := d.hosts[i].up.Offer(d.w.Now(), ch, download.Content{ID: 1, Source: bytes.NewReader(content), Size: int64(len(content))})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; len(d.hosts[0].ends)+len(d.hosts[1].ends) < 4 && n < 4000; n++ {
		d.tick(n)
	}
	for i, h := range d.hosts {
		if len(h.ends) != 2 || h.ends[0] != nil || h.ends[1] != nil || !bytes.Equal(h.sink.Bytes(), content) {
			t.Errorf("host %d: endings %v, %d bytes", i+1, h.ends, len(h.sink.Bytes()))
		}
	}
}

func newEndpoint(t testing.TB, place int, salt uint32, h mercury.Handler, cfg mercury.Config) *mercury.Endpoint {
	t.Helper()
	cfg.Salt = salt
	e, err := mercury.NewEndpoint(cfg, mercurytest.Place(place), h)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
