// Package websocket is.
package websocket
