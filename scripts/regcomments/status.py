"""The closed vocabularies of combined.md: four statuses, and the reasons behind them."""

from enum import StrEnum


class Status(StrEnum):
    """What became of one attachment."""

    OK = "ok"  # all readable text is in the body
    OCR_NEEDED = "ocr_needed"  # a page or picture has ink that the text lacks or garbles
    FAILED = "failed"  # could not be read; the reason says why
    UNSUPPORTED = "unsupported"  # not a kind of file that we read


class Reason(StrEnum):
    """Why an attachment, or one of its pages, has the status it has."""

    # ocr_needed
    SCANNED = "scanned"  # every page needs OCR
    MIXED = "mixed"  # some pages do
    GARBLED = "garbled"  # the text layer is not language
    IMAGE = "image"  # the file is a picture, or its text is in pictures
    OCR_DOUBTFUL = "ocr_doubtful"  # two OCR engines disagree
    OCR_FAILED = "ocr_failed"  # OCR was tried as often as allowed, in vain
    # ok
    BLANK = "blank"  # nothing is written on it
    STUB = "stub"  # readable, but only a cover for something else
    # failed
    ENCRYPTED = "encrypted"  # asks for a password
    RIGHTS_MANAGED = "rights_managed"  # asks for a licence server
    XFA = "xfa"  # a dynamic form: the page only says "please wait"
    PORTFOLIO = "portfolio"  # the documents are embedded in the file
    CORRUPT = "corrupt"  # damaged beyond repair
    EMPTY_FILE = "empty_file"  # zero bytes
    NO_PAGES = "no_pages"  # opens, holds no page
    TIMEOUT = "timeout"  # not read within its deadline
    MEMORY = "memory"  # needed more memory than allowed
    CRASHED = "crashed"  # the reader died
    TOO_LARGE = "too_large"  # above the size or page limit
    UNREADABLE = "unreadable"  # the system refused the file (permissions, I/O)
    # unsupported
    NOT_A_DOCUMENT = "not_a_document"  # audio, video, program, data
    UNKNOWN_KIND = "unknown_kind"  # neither content nor name tells the kind
    NO_READER = "no_reader"  # the kind is known, its reader is not installed
