package entity

// downloadHost is what an app does for downloads to the client of a base.
type downloadHost interface {
	Download(id uint32, desc string, content []byte, method string) error
	DownloadProgress(id uint32) (sent, size int, ok bool)
	CancelDownload(id uint32) bool
}

// Download sends the client a content that is too long for a call, such as a map or a patch, beside
// the game. It uses the room that calls and moves leave, up to baseapp.Config.DownloadRate. id and
// desc, of at most 254 bytes, tell the client what it is. content is not copied, and must not
// change until the download has ended.
//
// It returns at once. The script's method of that name, a func (T) OnX(DownloadEnd), is called when
// the client has checked the whole content, or with the reason why it has not: the client refuses
// it, has lost its connection, or is gone. It does not go on with the player's next channel. Errors
// are ErrNoPart while no client is connected, ErrNoCallback, and those of package mercury/download:
// the id is in use, there are too many downloads, the content is too long.
func (b *Base) Download(id uint32, desc string, content []byte, method string) error {
	return b.host.Download(id, desc, content, method)
}

// DownloadEnd is the outcome of a download, the argument of the callback that the script named in
// Download.
type DownloadEnd struct {
	// ID is what the script gave to Download.
	ID uint32
	// Err is why it ended; nil if the client has the whole content.
	Err error
}

// DownloadProgress returns how many bytes of a content have been sent to the client, of how many;
// false if there is no such download.
func (b *Base) DownloadProgress(id uint32) (sent, size int, ok bool) {
	return b.host.DownloadProgress(id)
}

// CancelDownload ends a download without a callback, and reports whether there was one.
func (b *Base) CancelDownload(id uint32) bool { return b.host.CancelDownload(id) }
