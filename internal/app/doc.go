// Package app is what every process of a cluster does alike, beside its messages (package wire).
package app
