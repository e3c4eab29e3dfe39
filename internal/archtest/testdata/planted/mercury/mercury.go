// Package mercury sends.
package mercury

import "errors"

// Transport sends.
type Transport interface {
	Send(msg []byte) error
	SendAll() (int, error)
}

// Say throws errors away, and keeps one.
func Say(t Transport) error {
	t.Send(nil)
	_ = t.Send(nil)
	_ = errors.Join(t.Send(nil))
	_, _ = t.SendAll()
	return t.Send(nil)
}
