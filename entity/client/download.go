package client

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
)

// DefaultMaxDownload is the default of Config.MaxDownload, in bytes: enough for a map, not for a
// game.
const DefaultMaxDownload = 16 << 20

// downloads is the receiving side of the proxy's contents.
type downloads struct {
	*download.Downloads
	c     *Client
	sinks map[uint32]*sink
}

// sink is a content that is still coming.
type sink struct {
	download.Memory
	desc string
}

// errAway ends a download whose session has ended.
var errAway = errors.New("client: the session is over")

// newDownloads makes the receiving side.
func (c *Client) newDownloads() (err error) {
	most := c.cfg.MaxDownload
	if most == 0 {
		most = DefaultMaxDownload
	}
	c.downloads = downloads{c: c, sinks: make(map[uint32]*sink)}
	c.downloads.Downloads, err = download.NewDownloads(download.Over(c.cfg.Transport), &c.downloads, download.DownloadConfig{MaxSize: int64(most)})
	return err
}

// Bulk implements mercury.BulkHandler.
func (c *Client) Bulk(now time.Duration, ch mercury.ChannelID, msg []byte) {
	c.now = now
	if ch != c.ch || c.state == Closed {
		return
	}
	c.heard()
	c.stats.BytesDown += uint64(len(msg))
	if err := c.takeDownload(msg); err != nil {
		c.stats.Malformed++
		c.close(err)
	}
}

// takeDownload takes a message about a download.
func (c *Client) takeDownload(msg []byte) error {
	before := c.downloads.Stats().Malformed
	if c.state != Playing || !c.downloads.Take(c.now, c.ch, msg) || c.downloads.Stats().Malformed > before {
		return malformed("a message about a download")
	}
	return nil
}

// DownloadOffered implements download.DownloadHandler.
func (d *downloads) DownloadOffered(now time.Duration, ch mercury.ChannelID, o download.Offer) {
	if d.c.cfg.Events.Downloaded == nil {
		_, _ = d.Cancel(ch, o.ID) // it was just offered, so it exists; nothing of it is kept
		return
	}
	s := &sink{desc: o.Desc}
	d.sinks[o.ID] = s
	if err := d.Accept(now, ch, o.ID, &s.Memory, download.Part{}); err != nil {
		d.DownloadEnded(now, ch, o.ID, download.Part{}, err)
	}
}

// DownloadProgress implements download.DownloadHandler.
func (d *downloads) DownloadProgress(_ time.Duration, _ mercury.ChannelID, id uint32, received, size int64) {
	if f := d.c.cfg.Events.DownloadProgress; f != nil {
		f(id, d.sinks[id].desc, int(received), int(size))
	}
}

// DownloadEnded implements download.DownloadHandler.
func (d *downloads) DownloadEnded(_ time.Duration, _ mercury.ChannelID, id uint32, _ download.Part, err error) {
	s := d.sinks[id]
	delete(d.sinks, id)
	if s == nil {
		return
	}
	if err != nil {
		d.c.cfg.Events.Downloaded(id, s.desc, nil, err)
		return
	}
	d.c.cfg.Events.Downloaded(id, s.desc, s.Bytes(), nil)
}
