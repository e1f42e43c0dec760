"""`Uploads`: rows in the desk's file, and for each a folder below `uploads/` with the one file under its own name.

A file is written whole and on disk before there is a row. What a killed process left behind is swept.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from datetime import datetime, timedelta
from typing import BinaryIO, cast

from reconvene.adapters.desk.desk_file import DeskFile, earlier
from reconvene.adapters.shared.private_folders import make_private_folder
from reconvene.adapters.shared.sqlite_faults import store_error
from reconvene.desk_ports import KEPT_DAYS, MOST_UPLOAD, MOST_UPLOADS, Upload
from reconvene.errors import StoreError, UserError

_CHUNK = 1024 * 1024
_NEW = "new-"  # how the folder of one that is under way begins
_MEGABYTE = 1024 * 1024
_COLUMNS = "SELECT digest, name, size, person, at, run FROM uploads"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\\ud800-\udfff]+")
_MOST_NAME = 200  # bytes; file systems take 255


def plain_name(name: str) -> str:
    """The last part of it, as a file here may be called."""
    last = _UNSAFE.sub("_", re.split(r"[/\\]", name.strip())[-1]).strip().lstrip(".")
    stem, dot, end = last.rpartition(".")
    if dot and len(end.encode()) <= 20:
        return f"{_cut(stem, _MOST_NAME - 21)}.{end}" if stem else end
    return _cut(last, _MOST_NAME) or "upload"


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")


class UploadFiles:
    _file: DeskFile
    _folder: str

    def keep_upload(self, person: str, name: str, file: BinaryIO, now: str) -> Upload:
        name = plain_name(name)
        try:
            make_private_folder(self._folder)
            under_way = tempfile.mkdtemp(prefix=_NEW, dir=self._folder)
            try:
                digest, size = _copied(file, os.path.join(under_way, name))
                upload = Upload(digest, name, size, person, now)
                with self._file.transaction():
                    kept = self._row(person, digest)
                    if kept is not None:
                        upload = upload._replace(run=kept.run)
                    self._require_room(person, size, digest)
                    shutil.rmtree(self._place(upload), ignore_errors=True)
                    os.rename(under_way, self._place(upload))
                    put = "INSERT OR REPLACE INTO uploads (digest, name, size, person, at, run) VALUES (?,?,?,?,?,?)"
                    self._file.do(put, *upload)
                return upload
            finally:
                shutil.rmtree(under_way, ignore_errors=True)
        except OSError as error:
            raise store_error(error, self._folder) from error

    def _require_room(self, person: str, size: int, digest: str) -> None:
        held = "SELECT coalesce(sum(size), 0) FROM uploads WHERE person = ? AND run = '' AND digest <> ?"
        (lying,) = cast("tuple[int]", self._file.row(held, person, digest))
        if lying + size > MOST_UPLOADS:
            raise UserError(
                f"{person} has {lying // _MEGABYTE:,} MB of uploads that no run was given;"
                f" at most {MOST_UPLOADS // _MEGABYTE:,} are kept.",
                hint=f"Start the run, or remove some. What is not used goes after {KEPT_DAYS} days.",
            )

    def upload(self, person: str, digest: str) -> Upload | None:
        found = self._row(person, digest)
        return found if found is not None and os.path.isfile(self._path(found)) else None

    def uploads(self, person: str) -> list[Upload]:
        rows = self._file.rows(f"{_COLUMNS} WHERE person = ? ORDER BY at, digest", person)
        found = [Upload(*cast("tuple[str, str, int, str, str, str]", row)) for row in rows]
        return [one for one in found if os.path.isfile(self._path(one))]

    def upload_path(self, upload: Upload) -> str:
        path = self._path(upload)
        if not os.path.isfile(path):
            raise StoreError(f"The upload {upload.name} is gone.", hint="Upload it again.")
        return path

    def use_upload(self, person: str, digest: str, run: str) -> None:
        self._file.do("UPDATE uploads SET run = ? WHERE person = ? AND digest = ?", run, person, digest)

    def drop_upload(self, person: str, digest: str) -> None:
        self._drop("person = ? AND digest = ?", person, digest)

    def _drop(self, which: str, *values: object) -> None:
        rows = self._file.rows(f"{_COLUMNS} WHERE {which}", *values)
        self._file.do(f"DELETE FROM uploads WHERE {which}", *values)
        for row in rows:
            shutil.rmtree(self._place(Upload(*cast("tuple[str, str, int, str, str, str]", row))), ignore_errors=True)

    def _sweep_uploads(self, now: str) -> None:
        old = earlier(now, timedelta(days=KEPT_DAYS))
        self._drop("run = '' AND at < ?", old)
        try:
            left = [each for each in os.scandir(self._folder) if each.name.startswith(_NEW)]
        except FileNotFoundError:
            return
        day_ago = datetime.fromisoformat(now).timestamp() - 86_400
        for each in left:  # of a process that was killed
            if each.stat().st_mtime < day_ago:
                shutil.rmtree(each.path, ignore_errors=True)

    def _row(self, person: str, digest: str) -> Upload | None:
        row = self._file.row(f"{_COLUMNS} WHERE person = ? AND digest = ?", person, digest)
        return Upload(*cast("tuple[str, str, int, str, str, str]", row)) if row else None

    def _place(self, upload: Upload) -> str:
        owner = hashlib.sha256(upload.person.encode()).hexdigest()[:16]
        return os.path.join(self._folder, f"{upload.digest}-{owner}")

    def _path(self, upload: Upload) -> str:
        return os.path.join(self._place(upload), upload.name)


def _copied(file: BinaryIO, path: str) -> tuple[str, int]:
    """Digest and size."""
    made, size = hashlib.sha256(), 0
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as copy:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            if size > MOST_UPLOAD:
                raise UserError(
                    f"This file is larger than {MOST_UPLOAD // _MEGABYTE} MB, and was not kept.",
                    hint="Split it, or let an administrator name it as a source in the settings.",
                )
            made.update(chunk)
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return made.hexdigest()[:32], size
