// Package accounts is a ready login: names and passwords kept in a store, for a LoginApp that has no
// account service to ask. It is a loginapp.Auth.
//
//	typ, err := accounts.Type()
//	...
//	schema, err := store.NewSchema(definitions, typ)
//	...
//	logins, err := accounts.New(s, accounts.Config{})
//	loginapp.Config{Auth: logins, ...}
//
// # What is kept
//
// A row for each account: its name, which is unique, a hash of the password by argon2id, whether it
// is disabled, and which entity it plays ([Account]). The hash stands with its salt and its own
// parameters, so that they can be raised later: a login with an older hash, if the password is
// right, writes a new one.
//
// # What an attacker learns
//
// An unknown name takes as long as a wrong password, and gives the same error. (A hash of other
// parameters than the present ones takes as long as those demand, until its owner logs in.) Hashes
// are compared in constant time. That an account is disabled is told only to who knows its password.
// Nothing here counts attempts: hashing takes some 50 ms of a core, and LoginApps bound the logins
// under way.
//
// # Memory
//
// Each hash takes Params.Memory. Config.Memory bounds all that are under way; further ones wait, until
// their context ends. Parameters that a damaged row claims are bounded, too.
//
// # Concurrency
//
// Accounts may be called from any goroutine, and block: as an Auth, on those of jobs. Two changes of
// one account at the same time: one of them gets store.ErrStale.
package accounts
