"""The service: the answers of runs over HTTP, for programs and for the page. See `docs/service.md`."""
