package baseapp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
)

// taker is a client that takes downloads, or refuses them, over a channel without a bulk stream.
type taker struct {
	r      *rig
	ch     mercury.ChannelID
	in     *download.Downloads
	refuse bool
	got    download.Memory
}

func (k *taker) SendBulk(_ mercury.ChannelID, msg []byte) error {
	k.r.a.Message(k.r.now, k.ch, true, msg)
	return nil
}
func (*taker) Backlog(mercury.ChannelID) (int, int) { return 0, 0 }

func (k *taker) DownloadOffered(now time.Duration, ch mercury.ChannelID, o download.Offer) {
	if k.refuse {
		_, _ = k.in.Cancel(ch, o.ID)
		return
	}
	if err := k.in.Accept(now, ch, o.ID, &k.got, download.Part{}); err != nil {
		k.r.t.Error(err)
	}
}
func (*taker) DownloadProgress(time.Duration, mercury.ChannelID, uint32, int64, int64)      {}
func (*taker) DownloadEnded(time.Duration, mercury.ChannelID, uint32, download.Part, error) {}

// newTaker makes the receiving side of a channel.
func newTaker(t *testing.T, r *rig, ch mercury.ChannelID) *taker {
	t.Helper()
	k := &taker{r: r, ch: ch}
	var err error
	if k.in, err = download.NewDownloads(k, k, download.DownloadConfig{}); err != nil {
		t.Fatal(err)
	}
	return k
}

// pass lets ticks pass, and the client take what it is sent.
func (k *taker) pass(ticks int) {
	for range ticks {
		k.r.tick()
		for _, msg := range k.r.take(k.r.net.peers[k.ch]) {
			if download.Is(msg) {
				k.in.Take(k.r.now, k.ch, msg)
			}
		}
	}
}

func TestDownload(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.DownloadRate = 10_000 })
	made := r.login("ann")
	v := r.script(made.ID)
	content := []byte(strings.Repeat("patch", 10_000))
	if err := v.Download(1, "patch", content, "OnPatch"); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("without a client: %v", err)
	}
	p := r.connect(1)
	p.attach(made.Token)
	if err := v.Download(1, "patch", content, "OnRoom"); !errors.Is(err, entity.ErrNoCallback) {
		t.Errorf("with a method of another kind: %v", err)
	}
	k := newTaker(t, r, p.ch)
	r.events = nil
	if err := v.Download(1, "patch", content, "OnPatch"); err != nil {
		t.Fatal(err)
	}
	if err := v.Download(1, "patch", content, "OnPatch"); !errors.Is(err, download.ErrID) {
		t.Errorf("a second one of that id: %v", err)
	}
	k.pass(3)
	if sent, size, ok := v.DownloadProgress(1); !ok || size != len(content) || sent == size {
		t.Errorf("%d of %d bytes, %v", sent, size, ok)
	}
	k.pass(70)
	r.wantEvents("patch 1 <nil>")
	if string(k.got.Bytes()) != string(content) {
		t.Errorf("%d bytes came", len(k.got.Bytes()))
	}
	// One that is cancelled ends without a word, one that is refused with one.
	if err := v.Download(2, "patch", content, "OnPatch"); err != nil || !v.CancelDownload(2) || v.CancelDownload(2) {
		t.Errorf("cancelling: %v", err)
	}
	k.refuse = true
	if err := v.Download(3, "patch", content, "OnPatch"); err != nil {
		t.Fatal(err)
	}
	k.pass(3)
	r.wantEvents("patch 3 download: download refused (said the peer)")
}

// The end of the client, and what it says wrongly, end its downloads with a word to the script.
func TestDownloadOfAClientThatGoes(t *testing.T) {
	r := joinedRig(t)
	made := r.login("ann")
	v := r.script(made.ID)
	v.keep = true
	p := r.connect(1)
	p.attach(made.Token)
	k := newTaker(t, r, p.ch)
	if err := v.Download(1, "patch", make([]byte, 1<<20), "OnPatch"); err != nil {
		t.Fatal(err)
	}
	k.pass(6)
	r.events = nil
	r.a.Message(r.now, p.ch, true, []byte{download.MinKind + 10, 1}) // has all of it, it says
	if len(r.events) < 2 || !strings.HasPrefix(r.events[0], "patch 1 ") || !strings.HasPrefix(r.events[1], "client death") {
		t.Errorf("events %q", r.events)
	}
	p.wantRefused(protocol.Malformed)
	r.a.Bulk(r.now, p.ch, []byte{download.MinKind + 10, 1})
	r.tick()
}
