// Program is a command: its comment may start as it likes.
package main

import "example.com/planted/low"

func main() { _ = low.ErrNone }
