package client

import (
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

// newDownloads makes the receiving side, which most sessions do not need.
func (c *Client) newDownloads() (*downloads, error) {
	most := c.cfg.MaxDownload
	if most == 0 {
		most = DefaultMaxDownload
	}
	d := &downloads{c: c, sinks: make(map[uint32]*sink)}
	var err error
	d.Downloads, err = download.NewDownloads(download.Over(c.cfg.Transport), d, download.DownloadConfig{MaxSize: int64(most)})
	return d, err
}

// abortDownloads ends those that come over a channel.
func (c *Client) abortDownloads(ch mercury.ChannelID, reason error) {
	if c.downloads != nil {
		c.downloads.AbortAll(c.now, ch, reason)
	}
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
	if c.state != Playing {
		return malformed("a message about a download")
	}
	if c.downloads == nil {
		var err error
		if c.downloads, err = c.newDownloads(); err != nil {
			return err
		}
	}
	before := c.downloads.Stats().Malformed
	if !c.downloads.Take(c.now, c.ch, msg) || c.downloads.Stats().Malformed > before {
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
