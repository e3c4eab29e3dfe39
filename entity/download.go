package entity

// DownloadHost is what an app does about contents for the client of a base.
type DownloadHost interface {
	Download(id uint32, desc string, content []byte, method string) error
	DownloadProgress(id uint32) (sent, size int, ok bool)
	CancelDownload(id uint32) bool
}

// Download sends the client a content that is too long for a call, such as a map or a
// patch, beside the game: it takes the room that calls and moves leave, and a share of
// the link that baseapp.Config.DownloadRate bounds. id and desc, of at most 254 bytes,
// tell the client what it is. content is not copied, and must stay as it is until the end.
//
// It returns at once. The script's method of that name, a func (T) OnX(DownloadEnd), is
// called when the client has all of it and has checked it, or with why it has not: the
// client wants none, or is gone. The player's next client gets nothing of it. Errors are
// ErrNoPart while no client is attached, ErrNoCallback for a name that the script lacks, and
// those of package mercury/download: the id is in use, there are too many, it is too long.
func (b *Base) Download(id uint32, desc string, content []byte, method string) error {
	return b.host.Download(id, desc, content, method)
}

// DownloadEnd is what became of a download: the script's method of the name that it gave to Download,
// a func (T) OnX(DownloadEnd), is called with it.
type DownloadEnd struct {
	// ID is what the script gave to Download.
	ID uint32
	// Err is why it is over; nil when the client has the whole content.
	Err error
}

// DownloadProgress is how many bytes of a content have gone to the client; false when no
// such download goes on.
func (b *Base) DownloadProgress(id uint32) (sent, size int, ok bool) {
	return b.host.DownloadProgress(id)
}

// CancelDownload breaks a download off, and reports whether there was one. The script is
// not told of its end.
func (b *Base) CancelDownload(id uint32) bool { return b.host.CancelDownload(id) }
