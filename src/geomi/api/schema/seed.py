"""The seed engine on the wire; its fields are named as the catalogue has them (SED-17, RPT-04)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Self

from pydantic import ConfigDict, Field

from geomi.api.schema.wire import Flag, RequestModel, ResponseModel, WireModel
from geomi.dataset.partition import checked_filter
from geomi.engine.seeds.dead_letters import letter_json
from geomi.engine.seeds.report import CollectionStats, ProcessingStats
from geomi.model.dataset.queue import DeadLetter, ErrorContext, ErrorInfo
from geomi.model.dataset.seed import ErrorType, OrchestrationReport, PartitionFilter

Country = Annotated[str, Field(pattern=r"^[A-Za-z]{2}$", description="Two letters.")]
Category = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Date = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="`YYYY-MM-DD`.")]


class PartitionQuery(RequestModel):
    """The partitions; a missing field means all."""

    country: Country | None = None
    category: Category | None = None
    date: Date | None = None

    def which(self) -> PartitionFilter:
        """Return the partitions; a day that no calendar has is refused."""
        return checked_filter(self.country, self.category, self.date)


class OrchestrateRequest(PartitionQuery):
    """The raw files to process (SED-17); without fields, all unprocessed ones."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"country": "sg", "category": "news"}]}
    )

    force: Annotated[Flag, Field(description="Process finished raw files again too.")] = False


class OrchestratedFiles(WireModel):
    """The raw files that an orchestration found."""

    files_found: int = Field(description="Raw files of these partitions.")
    sent: int = Field(description="Raw files that were put into the queue.")
    skipped: int = Field(description="Raw files that were processed already.")


class OrchestrateResponse(WireModel):
    """The result of an orchestration (SED-18)."""

    success: bool = Field(description="False if some could not be queued.")
    data: OrchestratedFiles

    @classmethod
    def of(cls, found: OrchestrationReport) -> Self:
        """Write what was found."""
        return cls(success=not found.unsent, data=OrchestratedFiles(**asdict(found)))


class SeedStatusResponse(WireModel):
    """The progress of a dataset (RPT-04)."""

    processing_stats: ProcessingStats
    collection_stats: CollectionStats


class DeadLetterResponse(WireModel):
    """A message that failed for good (SED-43)."""

    original_message: object
    error_info: ErrorInfo
    context: ErrorContext

    @classmethod
    def of(cls, letter: DeadLetter) -> Self:
        """Write a dead letter."""
        return cls.model_validate(letter_json(letter))


class DeadLetterSummary(ResponseModel):
    """A dead letter in a list, without its message."""

    letter_id: str
    task: str = Field(description="The raw file, or the folder of the domain's contract.")
    queue: str
    error_type: ErrorType
    error_message: str
    failed_at: str

    @classmethod
    def of(cls, letter: DeadLetter) -> Self:
        """Write a dead letter's line."""
        message = letter.message
        return cls.from_fields(
            letter.error_info, letter_id=letter.id, task=message.task, queue=message.queue
        )


class DeadLetterListResponse(ResponseModel):
    """Some dead letters, in the order of their ids."""

    letters: tuple[DeadLetterSummary, ...]
    next_cursor: str | None = None
