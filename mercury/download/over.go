package download

import "github.com/cellscape/cellscape/mercury"

// Over is the Link of any transport: the bulk stream of one that has it, else reliable messages, of
// which Uploads let no more wait than UploadConfig.Queue says. What is sent so comes as a reliable
// message at the other end, which tells it from its own by Is.
func Over(t mercury.Transport) Link {
	if l, ok := t.(Link); ok {
		return l
	}
	return plain{t}
}

// plain is a transport without a bulk stream.
type plain struct{ mercury.Transport }

// SendBulk implements Link.
func (p plain) SendBulk(ch mercury.ChannelID, msg []byte) error { return p.Send(ch, msg) }

// Backlog implements Link.
func (p plain) Backlog(ch mercury.ChannelID) (unsent, bulkUnsent int) {
	unsent, _ = p.Queued(ch)
	return unsent, unsent
}

// Is reports whether a message is one of downloads, by its first byte.
func Is(msg []byte) bool { return len(msg) > 0 && msg[0] >= MinKind && msg[0] <= MaxKind }
