//go:build !linux

package stream

import "syscall"

// SocketInfo is the Info of a TCP socket, where the system tells.
func SocketInfo(syscall.Conn) (Info, bool) { return Info{}, false }
